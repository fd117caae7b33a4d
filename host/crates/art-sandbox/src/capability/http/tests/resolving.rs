//! To which addresses the name of a host may lead, and that a request connects only to addresses that were checked.

use super::*;

/// Sends a request to `host.example`, whose grant is for public addresses, and returns the error and the denials. `answers` are
/// the sets of addresses that the look-ups of the name return.
async fn send_refused_request(answers: &[&[&str]]) -> (Error, Vec<Denial>) {
    let resolver = TestResolver::default().with_answers("host.example", answers);
    let mut call = Call::new(json!([{"url": "http://host.example/"}]), resolver);
    let error = call.get("http://host.example/").await.unwrap_err();
    (error, call.denials())
}

#[tokio::test]
async fn a_name_that_leads_to_an_address_that_is_not_public_is_denied() {
    for address in [
        "127.0.0.1",
        "10.0.0.8",
        "169.254.169.254",
        "0.0.0.0",
        "::1",
        "fd00:ec2::254",
        "64:ff9b::7f00:1",
    ] {
        let (error, denials) = send_refused_request(&[&[address]]).await;
        assert!(matches!(error, Error::HttpRequestDenied), "{address}: {error}");
        let [denial] = &denials[..] else { panic!("{denials:?}") };
        assert_eq!(
            denial.command.as_deref(),
            Some("art grant add fetch --http http://host.example/ --private")
        );
        assert!(!format!("{denial:?}").contains(address));
    }
}

#[tokio::test]
async fn a_host_with_one_address_that_is_not_public_is_denied() {
    let (error, denials) = send_refused_request(&[&["1.1.1.1", "127.0.0.1"]]).await;
    assert!(matches!(error, Error::HttpRequestDenied), "{error}");
    assert_eq!(denials.len(), 1);
}

#[tokio::test]
async fn an_address_in_the_url_is_checked_as_well() {
    let server = Server::with_page();
    for host in ["127.0.0.1", "2130706433", "127.1", "[::ffff:127.0.0.1]"] {
        let url = format!("http://{host}:{}/", server.address.port());
        let grants = json!([{"url": url}]);
        let mut call = Call::new(grants, TestResolver::default());
        assert!(matches!(call.get(&url).await, Err(Error::HttpRequestDenied)), "{host}");
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_name_is_looked_up_once_and_the_checked_address_is_used() {
    let server = Server::with_page();
    // A second look-up would return an address at which nothing listens.
    let resolver = TestResolver::default().with_answers("host.example", &[&["127.0.0.1"], &["127.0.0.2"]]);
    let url = format!("http://host.example:{}/", server.address.port());
    let mut call = Call::new(json!([full_grant(&url)]), resolver);
    call.get(&url).await.unwrap();
    assert_eq!(call.resolver.lookups(), ["host.example"]);
    let head = server.received().remove(0);
    let host = format!("host: host.example:{}\r\n", server.address.port());
    assert!(head.contains(&host), "{head}");
}

#[tokio::test]
async fn each_request_looks_up_its_name_and_checks_the_address_again() {
    // Neither address is public.
    let resolver = TestResolver::default().with_answers("host.example", &[&["192.0.2.1"], &["127.0.0.1"]]);
    let server = Server::with_page();
    let url = format!("http://host.example:{}/", server.address.port());
    let mut call = Call::new(json!([{"url": url}]), resolver);
    for _ in 0..2 {
        assert!(matches!(call.get(&url).await, Err(Error::HttpRequestDenied)));
    }
    assert_eq!((server.connections(), call.resolver.lookups().len()), (0, 2));
}

#[tokio::test]
async fn a_name_that_is_not_found_and_a_closed_port_are_errors_without_a_denial() {
    let mut call = Call::new(json!([{"url": "http://host.example/"}]), TestResolver::default());
    assert!(matches!(
        call.get("http://host.example/").await,
        Err(Error::DnsError { .. })
    ));
    assert_eq!(call.denials(), []);
    let closed_port = "http://127.0.0.1:1/";
    let mut call = Call::new(json!([full_grant(closed_port)]), TestResolver::default());
    assert!(matches!(call.get(closed_port).await, Err(Error::ConnectionRefused)));
    assert_eq!(call.denials(), []);
}

#[tokio::test]
async fn another_address_is_tried_if_one_refuses() {
    let server = Server::with_page();
    // Nothing listens at the first address.
    let resolver = TestResolver::default().with_answers("host.example", &[&["127.0.0.2", "127.0.0.1"]]);
    let url = format!("http://host.example:{}/", server.address.port());
    let mut call = Call::new(json!([full_grant(&url)]), resolver);
    call.get(&url).await.unwrap();
}
