//! Ranks tools for a part of a query and says whether the best one fits.

use bm25::{Embedder, EmbedderBuilder, Scorer, Tokenizer};

use super::attachment::{self, Attachment};
use super::fill::{Context, Filled, fill};
use super::reading::{Candidate, Reading, Shape};
use super::schema::Tool;
use super::words;

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

/// The words of one tool, by how much they say.
#[derive(Debug)]
struct Vocabulary {
    name: Vec<String>,
    first_sentence: Vec<String>,
    description: Vec<String>,
    parameters: Vec<String>,
    examples: Vec<String>,
}

impl Vocabulary {
    fn new(tool: &Tool) -> Self {
        let first = tool.description.split(". ").next().unwrap_or_default();
        let mut parameters = Vec::new();
        for param in &tool.params {
            parameters.extend(param.name_stems.iter().cloned());
            parameters.extend(param.description_stems.iter().cloned());
            parameters.extend(
                param
                    .choices
                    .iter()
                    .flat_map(|choice| words::stems(&super::schema::text_of(&choice.value))),
            );
        }
        Self {
            name: words::stems(&tool.name),
            first_sentence: words::stems(art_core::text::prefix(first, 600)),
            description: words::stems(art_core::text::prefix(&tool.description, 2_000)),
            parameters,
            examples: tool.examples.iter().flat_map(|example| words::stems(example)).collect(),
        }
    }

    /// Words that say more are repeated, which is how BM25 knows that they do.
    fn document(&self) -> String {
        let fields = [
            (&self.name, 4),
            (&self.first_sentence, 2),
            (&self.description, 1),
            (&self.parameters, 1),
            (&self.examples, 1),
        ];
        let words = fields
            .into_iter()
            .flat_map(|(words, times)| std::iter::repeat_n(words, times).flatten());
        words.map(String::as_str).collect::<Vec<_>>().join(" ")
    }

    /// How well the tool knows `stem`, from 0 to 1.
    fn knows(&self, stem: &str) -> f32 {
        let strong = words::best_likeness(stem, self.name.iter().chain(&self.description));
        let weak = words::best_likeness(stem, self.parameters.iter().chain(&self.examples)) * 0.6;
        strong.max(weak)
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
    /// Required arguments are missing.
    pub(super) missing: f32,
}

impl Features {
    /// One number to compare tools by.
    fn total(&self) -> f32 {
        self.rank + self.known + 1.2 * self.name + self.said + 0.8 * self.sure - 1.0 * self.missing
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
        0.5 * self.known + self.name + 1.5 * self.said + 0.8 * self.sure - THRESHOLD
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
                let features = asked.features(vocabulary, &filled, score_of(&scores, index) / best);
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
            missing: if filled.missing.is_empty() { 0.0 } else { 1.0 },
        }
    }
}

/// Words for what a phrase as a whole asks for.
fn hints(part: &Reading) -> Vec<&'static str> {
    let mut hints = Vec::new();
    let follows = |first: &str, second: &[&str]| {
        part.tokens
            .windows(2)
            .any(|pair| matches!(pair, [a, b] if a.is(first) && b.is_any(second)))
    };
    if follows("how", &["far"]) {
        hints.push("distance");
    }
    if follows("you", &["say"]) || follows("to", &["say"]) {
        hints.extend(["translate", "language"]);
    }
    let currencies = part
        .candidates
        .iter()
        .filter(|candidate| is_currency(candidate))
        .count();
    if currencies > 0 {
        hints.extend(["currency", "money"]);
    }
    if currencies > 1 {
        hints.extend(["convert", "exchange", "rate"]);
    }
    if part
        .tokens
        .iter()
        .any(|token| token.text.starts_with('#') && token.is_code())
    {
        hints.extend(["color", "colour", "hex"]);
    }
    hints
}

fn is_currency(candidate: &Candidate) -> bool {
    match &candidate.shape {
        Shape::Phrase | Shape::Name => candidate.value.as_str().is_some_and(super::fill::names_currency),
        Shape::Number(number) => number.currency.is_some(),
        _ => false,
    }
}

/// Words for what a candidate is, in the way tools describe themselves.
fn kinds(shape: &Shape) -> &'static [&'static str] {
    match shape {
        Shape::Expression => &["arithmetic", "expression", "calculate", "math"],
        Shape::Date | Shape::RelativeDate => &["date"],
        Shape::Number(number) if number.looks_like_a_year() => &["year"],
        Shape::Url => &["url", "web"],
        Shape::Email => &["email"],
        Shape::Path => &["file"],
        _ => &[],
    }
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
