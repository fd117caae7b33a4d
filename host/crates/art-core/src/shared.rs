//! A value that its clones share.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A value that is cloned often and rarely changed. Clones share the value. The first change of a clone gives it a value of its
/// own. JSON contains only the value.
#[derive(Debug, Default)]
pub struct Shared<T>(Arc<T>);

impl<T> Shared<T> {
    /// Returns whether both are clones that share one value. This is cheaper than a comparison.
    #[must_use]
    pub fn is_clone_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

impl<T: PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        self.is_clone_of(other) || self.0 == other.0
    }
}

impl<T: PartialEq> PartialEq<T> for Shared<T> {
    fn eq(&self, other: &T) -> bool {
        *self.0 == *other
    }
}

impl<T: Serialize> Serialize for Shared<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Shared<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_clone_shares_the_value_until_the_clone_is_changed() {
        let first = Shared::from(vec![1]);
        let mut clone = first.clone();
        assert!(std::ptr::eq(&*first, &*clone));
        clone.push(2);
        assert_eq!((&*first, &*clone), (&vec![1], &vec![1, 2]));
        assert_ne!(first, clone);
    }

    #[test]
    fn a_shared_value_has_the_json_of_the_value_itself() {
        let shared = Shared::from(vec![1, 2]);
        assert_eq!(json!(shared), json!([1, 2]));
        assert_eq!(
            serde_json::from_value::<Shared<Vec<i32>>>(json!([1, 2])).unwrap(),
            shared
        );
    }
}
