//! Ranks tools for a part of a query and says whether the best one fits.

mod hint;
mod vocabulary;

use bm25::{Embedder, EmbedderBuilder, Scorer, Tokenizer};

use super::attachment::{self, Attachment};
use super::fill::{Context, Filled, fill};
use super::reading::{Candidate, Reading, Shape};
use super::schema::Tool;
use super::words;
use hint::{hints, kinds};
use vocabulary::Vocabulary;

/// Tools for which arguments are tried, best first.
const TRIED: usize = 6;

/// Evidence below which no tool fits. A call that nobody asked for is worse than a part left open.
const THRESHOLD: f32 = 1.55;

/// Text that is already a sequence of stems.
#[derive(Clone, Copy, Debug, Default)]
struct Stems;

impl Tokenizer for Stems {
    fn tokenize(&self, text: &str) -> Vec<String> {
        text.split(' ')
            .filter(|word| !word.is_empty())
            .map(ToOwned::to_owned)
            .collect()
    }
}

/// All tools on offer, ready to be ranked.
pub(super) struct Router<'a> {
    tools: &'a [Tool],
    vocabularies: Vec<Vocabulary>,
    embedder: Embedder<u32, Stems>,
    scorer: Scorer<usize>,
}

/// How well a tool fits a part, and the arguments for it.
#[derive(Debug)]
pub(super) struct Match {
    /// Place of the tool.
    pub(super) tool: usize,
    pub(super) filled: Filled,
    pub(super) features: Features,
}

/// What speaks for a tool; each from 0 to about 1.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Features {
    /// BM25 score.
    pub(super) rank: f32,
    /// Share of the part's content words, arguments left out, that the tool knows.
    pub(super) known: f32,
    /// Share of the words of the tool's name that the part has.
    pub(super) name: f32,
    /// Share of the words of the first sentence that the part has.
    pub(super) said: f32,
    /// How sure the required arguments are.
    pub(super) sure: f32,
    /// Share of the dates, numbers, quoted texts and addresses of the part that became arguments.
    pub(super) used: f32,
    /// The tool knows every word, and all that is given became sure arguments, of which there are several.
    pub(super) complete: f32,
    /// Required arguments are missing, or something that is said became no argument.
    pub(super) missing: f32,
}

impl Features {
    /// One number to compare tools by.
    fn total(&self) -> f32 {
        self.rank + self.known + 1.2 * self.name + self.said + 0.8 * self.sure + 1.0 * self.used - 1.0 * self.missing
    }

    /// With the share of what is given that became one of the `arguments`.
    fn with_use(self, used: f32, arguments: usize) -> Self {
        let complete = used >= 1.0 && self.known >= 1.0 && self.sure >= 0.8 && arguments > 1;
        Self {
            used,
            complete: if complete { 1.0 } else { 0.0 },
            ..self
        }
    }

    /// Whether the tool is what is asked for, and not only the nearest one.
    pub(super) fn fits(&self) -> bool {
        self.missing == 0.0 && self.evidence() > 0.0
    }

    /// Above zero when the words and the arguments together speak for the tool.
    ///
    /// The weights are those of a logistic regression over questions with and without a fitting tool, rounded; what the
    /// tool says of itself in its first sentence tells the two apart best.
    pub(super) fn evidence(&self) -> f32 {
        0.5 * self.known + self.name + 1.5 * self.said + 0.8 * self.sure + 0.3 * self.complete - THRESHOLD
    }
}

impl<'a> Router<'a> {
    /// Prepares `tools`.
    pub(super) fn new(tools: &'a [Tool]) -> Self {
        let vocabularies: Vec<Vocabulary> = tools.iter().map(Vocabulary::new).collect();
        let documents: Vec<String> = vocabularies.iter().map(Vocabulary::document).collect();
        let corpus: Vec<&str> = documents.iter().map(String::as_str).collect();
        let embedder = EmbedderBuilder::<u32, Stems>::with_tokenizer_and_fit_to_corpus(Stems, &corpus)
            .b(0.4)
            .build();
        let mut scorer = Scorer::new();
        for (index, document) in documents.iter().enumerate() {
            scorer.upsert(&index, embedder.embed(document));
        }
        Self {
            tools,
            vocabularies,
            embedder,
            scorer,
        }
    }

    /// The tools for `part`, best first.
    pub(super) fn rank(&self, part: &Reading, whole: &Reading, attachments: &[Attachment]) -> Vec<Match> {
        let asked = Asked::new(part, whole, attachments);
        let scores = self.scores(&asked);
        let mut order: Vec<usize> = (0..self.tools.len()).collect();
        order.sort_by(|a, b| score_of(&scores, *b).total_cmp(&score_of(&scores, *a)));
        let best = order.first().map_or(1.0, |first| score_of(&scores, *first)).max(0.01);
        let tried = order.into_iter().take(TRIED);
        let mut matches: Vec<Match> = tried
            .filter_map(|index| {
                let (tool, vocabulary) = (self.tools.get(index)?, self.vocabularies.get(index)?);
                let filled = fill(
                    tool,
                    Context {
                        part,
                        whole,
                        attachments,
                    },
                );
                let features = asked
                    .features(vocabulary, &filled, score_of(&scores, index) / best)
                    .with_use(used(part, &filled), filled.arguments.len());
                Some(Match {
                    tool: index,
                    filled,
                    features,
                })
            })
            .collect();
        matches.sort_by(|a, b| b.features.total().total_cmp(&a.features.total()));
        matches
    }

    /// Whether `stem` is a word of the tool's name or first sentence.
    pub(super) fn goes_by(&self, tool: usize, stem: &String) -> bool {
        let vocabulary = self.vocabularies.get(tool);
        vocabulary.is_some_and(|words| words.name.contains(stem) || words.first_sentence.contains(stem))
    }

    fn scores(&self, asked: &Asked) -> Vec<f32> {
        let own = self.embedder.embed(&asked.stems().join(" "));
        let alike: Vec<&str> = asked.words.iter().flat_map(|(stem, _)| words::alike(stem)).collect();
        let alike = self.embedder.embed(&alike.join(" "));
        let score = |index: usize| {
            let of = |embedding| self.scorer.score(&index, embedding).unwrap_or_default();
            of(&own) + 0.4 * of(&alike)
        };
        (0..self.tools.len()).map(score).collect()
    }
}

fn score_of(scores: &[f32], index: usize) -> f32 {
    scores.get(index).copied().unwrap_or_default()
}

/// What a part asks, as stems.
struct Asked {
    /// Content words and the token each comes from.
    words: Vec<(String, usize)>,
    /// Words for what the part holds, such as `date` when there is one.
    kinds: Vec<String>,
}

impl Asked {
    fn new(part: &Reading, whole: &Reading, attachments: &[Attachment]) -> Self {
        let mut asked = Vec::new();
        for (index, token) in part.tokens.iter().enumerate().filter(|(_, token)| token.is_word()) {
            let words = words::split(&token.text);
            asked.extend(
                words
                    .iter()
                    .filter(|word| !words::is_empty(word))
                    .map(|word| (words::stem(word), index)),
            );
        }
        let mut kinds: Vec<String> = part
            .candidates
            .iter()
            .flat_map(|candidate| kinds(&candidate.shape))
            .map(|word| words::stem(word))
            .collect();
        if attachment::is_meant(part, attachments) {
            kinds.extend(
                attachments
                    .iter()
                    .flat_map(Attachment::kinds)
                    .map(|kind| words::stem(&kind)),
            );
        }
        if attachment::inline_table(&whole.text).is_some() {
            kinds.extend(["csv", "tabl"].map(ToOwned::to_owned));
        }
        if part.shift().is_some() {
            kinds.extend(["date", "day", "add"].map(words::stem));
        }
        kinds.extend(hints(part).iter().map(|word| words::stem(word)));
        kinds.sort();
        kinds.dedup();
        Self { words: asked, kinds }
    }

    fn stems(&self) -> Vec<&str> {
        self.words
            .iter()
            .map(|(stem, _)| stem.as_str())
            .chain(self.kinds.iter().map(String::as_str))
            .collect()
    }

    fn features(&self, tool: &Vocabulary, filled: &Filled, rank: f32) -> Features {
        let is_argument = |index: usize| filled.used.get(index).copied().unwrap_or_default();
        let content = self
            .words
            .iter()
            .filter(|(stem, index)| !is_argument(*index) && !words::is_generic(stem));
        let known = share(content.map(|(stem, _)| tool.knows(stem)));
        let has =
            |stem: &String| words::best_likeness(stem, self.words.iter().map(|(stem, _)| stem).chain(&self.kinds));
        let telling = |stem: &&String| !words::is_generic(stem);
        Features {
            rank,
            known: known.unwrap_or(0.5),
            name: share(tool.name.iter().filter(telling).map(has)).unwrap_or(0.5),
            said: said(&tool.first_sentence.iter().filter(telling).map(has).collect::<Vec<_>>()),
            sure: filled.sureness,
            used: 0.0,
            complete: 0.0,
            missing: if filled.is_whole() { 0.0 } else { 1.0 },
        }
    }
}

/// How much of what is firm in the part became arguments; all of it when there is nothing.
fn used(part: &Reading, filled: &Filled) -> f32 {
    let is_firm = |candidate: &&Candidate| {
        matches!(
            candidate.shape,
            Shape::Number(_) | Shape::Date | Shape::Quoted | Shape::Url | Shape::Email | Shape::Path | Shape::Literal
        )
    };
    let taken = |candidate: &Candidate| {
        let tokens = filled.used.get(candidate.from..candidate.to).unwrap_or_default();
        if tokens.contains(&true) { 1.0 } else { 0.0 }
    };
    share(part.candidates.iter().filter(is_firm).map(taken)).unwrap_or(1.0)
}

/// A long sentence lists much, and a question asks for little of it.
fn said(values: &[f32]) -> f32 {
    const ENOUGH: usize = 6;
    #[expect(clippy::cast_precision_loss, reason = "the count is small")]
    let count = values.len().clamp(1, ENOUGH) as f32;
    (values.iter().sum::<f32>() / count).min(1.0)
}

fn share(values: impl Iterator<Item = f32>) -> Option<f32> {
    let mut sum = 0.0;
    let mut count = 0.0;
    for value in values {
        sum += value;
        count += 1.0;
    }
    (count > 0.0).then(|| sum / count)
}
