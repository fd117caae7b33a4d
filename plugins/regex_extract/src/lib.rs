//! `regex_extract`: finds what matches a regular expression, or is of a named kind, such as an email address.
//!
//! The examples below pair questions of users (`ask`) with the arguments that answer them. There are many wordings of each
//! question, because a host without a language model finds the arguments by comparing a question with those of the examples.

use art_sdk::prelude::*;

mod error;
mod extract;
mod io;
mod kind;

#[cfg(test)]
mod tests;

use io::{RegexExtractInput, RegexExtractOutput};

/// Finds every part of a text that matches a regular expression (regex pattern) and extracts it with its position and
/// capture groups; or finds every email address, phone number, URL, date, price and so on. Use it to find, extract, match or
/// count email addresses, phone numbers, URLs, dates, hashtags, codes or order numbers in a text or log. Returns the
/// matched texts in `values`, and each match of a pattern with its character offsets and groups.
#[tool(
    example(
        ask = "Find all the email addresses",
        ask = "Show me all email addresses",
        ask = "Pull out all email addresses",
        ask = "Which email addresses occur?",
        ask = "What email addresses are in here?",
        ask = "What email addresses are in there?",
        ask = "What email addresses are mentioned?",
        ask = "What email address is mentioned?",
        ask = "List every email address",
        ask = "List every email address mentioned",
        ask = "Find the email address",
        ask = "Find the email address mentioned in this text",
        ask = "Which email address is given?",
        ask = "Which email address is given in this text?",
        ask = "Which email address is in here?",
        ask = "What email address is in here?",
        ask = "What email address does it link to?",
        ask = "Does it contain an email address? Which one?",
        ask = "Is there an email address in it?",
        ask = "Search for email addresses",
        ask = "Give me every email address",
        input = r#"{"text":"Write to ada@example.org or to bob@example.org. Thank you for that.","kind":"email_address"}"#
    ),
    example(
        ask = r#"Find the email addresses in "Write to ada@example.org""#,
        ask = r#"Find all email addresses in "Write to ada@example.org""#,
        ask = r#"Get the email addresses from "Write to ada@example.org""#,
        ask = r#"Get all email addresses from "Write to ada@example.org""#,
        ask = r#"Extract the email addresses from "Write to ada@example.org""#,
        ask = r#"List the email addresses in "Write to ada@example.org""#,
        ask = r#"Which email addresses are in "Write to ada@example.org"?"#,
        input = r#"{"text":"Write to ada@example.org","kind":"email_address"}"#
    ),
    example(
        ask = "List the unique email addresses",
        ask = "List the different email addresses",
        ask = "List the distinct email addresses",
        ask = "List the email addresses in this text without repeating them",
        ask = "List all email addresses without duplicates",
        ask = "Which different email addresses are there?",
        ask = "Which different email addresses occur?",
        ask = "Find all unique email addresses",
        ask = "Extract the email addresses without duplicates",
        ask = "Show every email address once",
        input = r#"{"text":"Write to ada@example.org or to bob@example.org. Thank you for that.","kind":"email_address","unique":true}"#
    ),
    example(
        ask = "How many email addresses are in there?",
        ask = "How many email addresses occur?",
        input = r#"{"text":"Write to ada@example.org or to bob@example.org. Thank you for that.","kind":"email_address","only":"count"}"#
    ),
    example(
        ask = "Find everything that matches `ERROR .*`",
        ask = "Which parts match `ERROR .*`?",
        ask = "Show what matches `ERROR .*`",
        ask = "Search for `ERROR .*`",
        ask = "Find `ERROR .*`",
        ask = "Extract everything matching `ERROR .*`",
        ask = "All matches of `ERROR .*`",
        input = r#"{"text":"The log says: ERROR disk full, ERROR again and again.","pattern":"ERROR .*"}"#
    ),
    example(
        ask = "Extract the email addresses from this text",
        ask = "Find the email addresses in this text",
        ask = "Get the email addresses out of this text",
        ask = "What email addresses are in this text?",
        ask = "Which email addresses appear in this text?",
        ask = "Any email addresses in this text?",
        ask = "Any email addresses in here?",
        ask = "Are there any email addresses in this text?",
        ask = "What email address is in this text?",
        ask = "Which email address is in this text?",
        ask = "What email address is given in this text?",
        ask = "What is the email address in this text?",
        ask = "Find the email address in this text",
        ask = "Get the email address from this text",
        ask = "Get all email addresses",
        ask = "Get the email addresses",
        ask = "Pull out the email addresses",
        ask = "Pull the email addresses",
        ask = "Pull all email addresses",
        ask = "Grab the email addresses",
        ask = "Grab all email addresses",
        ask = "Show the email addresses",
        ask = "Collect the email addresses",
        ask = "Pick out the email addresses",
        ask = "List all email addresses",
        ask = "Find the email addresses",
        ask = "Extract all email addresses",
        ask = "List the email addresses in this essay",
        ask = "List the email addresses in this article",
        ask = "List the email addresses in this letter",
        ask = "List the email addresses in this email",
        ask = "List the email addresses in this message",
        ask = "List the email addresses in this story",
        ask = "List the email addresses in this report",
        ask = "List the email addresses in this note",
        ask = "List the email addresses in this document",
        ask = "List the email addresses in this post",
        ask = "List the email addresses in this page",
        ask = "List the email addresses in this poem",
        ask = "List the email addresses in this speech",
        ask = "List the email addresses in this log",
        ask = "List the email addresses in this list",
        ask = "List the email addresses in this draft",
        ask = "List the email addresses in this chapter",
        ask = "List the email addresses in this memo",
        ask = "List the email addresses in this transcript",
        ask = "List the email addresses in this readme",
        ask = "List the email addresses in this paper",
        ask = "List the email addresses in this script",
        ask = "List the email addresses in this data",
        ask = "Email addresses only",
        ask = "Only the email addresses",
        ask = "Just the email addresses",
        ask = "Which email addresses does this text contain?",
        ask = "Which email addresses are listed in this text?",
        ask = "Which email addresses occur in this text?",
        ask = "Which email addresses are given in this text?",
        ask = "Which email addresses can be found in this text?",
        input = r#"{"text":"Mail ada@example.org about #tools.","kind":"email_address"}"#
    ),
    example(
        ask = "How many email addresses does this text contain?",
        ask = "Count all email addresses",
        ask = "How many email addresses are listed in this text?",
        ask = "How many email addresses appear in this text?",
        input = r#"{"text":"Mail ada@example.org about #tools.","kind":"email_address","only":"count"}"#
    ),
    example(
        ask = r#"Find all matches of the pattern `\d+` in this text"#,
        ask = r#"Find everything that matches `\d+` in this text"#,
        ask = r#"Find all strings that match `\d+` in this text"#,
        ask = r#"Find matches of `\d+` in this text"#,
        ask = r#"Find all occurrences of `\d+` in this text"#,
        ask = r#"Find what matches `\d+` in this text"#,
        ask = r#"Extract all matches of `\d+` from this text"#,
        ask = r#"Extract what matches `\d+` from this text"#,
        ask = r#"List all matches of `\d+` in this text"#,
        ask = r#"List everything that matches `\d+` in this text"#,
        ask = r#"Get everything that matches `\d+` from this text"#,
        ask = r#"Get all matches of `\d+` in this text"#,
        ask = r#"Which matches of `\d+` are in this text?"#,
        ask = r#"What matches `\d+` in this text?"#,
        ask = r#"Which strings match `\d+` in this text?"#,
        ask = r#"Use the regex `\d+` on this text"#,
        ask = r#"Use the pattern `\d+` on this text"#,
        ask = r#"Use the regular expression `\d+` on this text"#,
        ask = r#"Run the regex `\d+` on this text"#,
        ask = r#"Run `\d+` on this text"#,
        ask = r#"Apply the regex `\d+` to this text"#,
        ask = r#"Apply the pattern `\d+` to this text"#,
        ask = r#"Apply `\d+` to this text"#,
        ask = r#"Search for `\d+` in this text"#,
        ask = r#"Search this text with the regex `\d+`"#,
        ask = r#"Find the regex `\d+` in this text"#,
        input = r#"{"text":"a1b22","pattern":"\\d+"}"#
    ),
    example(
        ask = r#"How many matches of `\d+` are in this text?"#,
        ask = r#"How many matches of the pattern `\d+` are in this text?"#,
        ask = r#"How many times does `\d+` match in this text?"#,
        ask = r#"Count the matches of `\d+` in this text"#,
        ask = r#"How often does `\d+` match in this text?"#,
        input = r#"{"text":"a1b22","pattern":"\\d+","only":"count"}"#
    ),
    example(
        ask = "Extract all email addresses from this text",
        ask = "Extract the email addresses",
        ask = "List the email addresses",
        ask = "Find all email addresses",
        ask = "Find the email addresses in this file",
        ask = "List the email addresses in this text",
        ask = "What are the email addresses in this text?",
        ask = "Which email addresses are in this text?",
        ask = "List every email address in this text",
        ask = "What email addresses does this text have?",
        ask = "Show all email addresses",
        ask = "Get the email addresses from this file",
        ask = "Which email addresses are mentioned in this text?",
        input = r#"{"text":"Mail ada@example.org or bob@example.com.","kind":"email_address"}"#,
        output = r#"{"values":["ada@example.org","bob@example.com"],"count":2,"truncated":false}"#
    ),
    example(
        ask = "Extract all emails from this text",
        ask = "List the emails",
        ask = "Find all emails in this file",
        ask = "Which emails are in this text?",
        ask = "Pull out the emails",
        input = r#"{"text":"Mail ada@example.org or bob@example.com.","kind":"email"}"#,
        output = r#"{"values":["ada@example.org","bob@example.com"],"count":2,"truncated":false}"#
    ),
    example(
        ask = r#"Extract the email addresses from "Mail ada@example.org or bob@example.com.""#,
        ask = r#"Which email addresses are in "Mail ada@example.org or bob@example.com."?"#,
        ask = r#"Find the email addresses in "Mail ada@example.org or bob@example.com.""#,
        ask = r#"List the email addresses in "Mail ada@example.org or bob@example.com.""#,
        input = r#"{"text":"Mail ada@example.org or bob@example.com.","kind":"email_address"}"#,
        output = r#"{"values":["ada@example.org","bob@example.com"],"count":2,"truncated":false}"#
    ),
    example(
        ask = r#"Extract all numbers from "3 apples for 4.50""#,
        ask = r#"Which numbers are in "3 apples for 4.50"?"#,
        ask = r#"Find the numbers in "3 apples for 4.50""#,
        input = r#"{"text":"3 apples for 4.50","kind":"number"}"#,
        output = r#"{"values":["3","4.50"],"count":2,"truncated":false}"#
    ),
    example(
        ask = "Extract all numbers from this text",
        ask = "Find the numbers",
        ask = "Which numbers are in this text?",
        input = r#"{"text":"3 apples for 4.50","kind":"number"}"#,
        output = r#"{"values":["3","4.50"],"count":2,"truncated":false}"#
    ),
    example(
        ask = "Extract all URLs from this text",
        ask = "Find the URLs in this file",
        ask = "Which URLs are in this text?",
        input = r#"{"text":"See https://example.org on 2026-11-21, call +49 228 1234. #news #art","kind":"url"}"#,
        output = r#"{"values":["https://example.org"],"count":1,"truncated":false}"#
    ),
    example(
        ask = "Extract all links from this text",
        ask = "Find the links in this file",
        ask = "Which links are in this text?",
        input = r#"{"text":"See https://example.org on 2026-11-21, call +49 228 1234. #news #art","kind":"link"}"#,
        output = r#"{"values":["https://example.org"],"count":1,"truncated":false}"#
    ),
    example(
        ask = "List the web addresses in this text",
        input = r#"{"text":"See https://example.org on 2026-11-21, call +49 228 1234. #news #art","kind":"web_address"}"#,
        output = r#"{"values":["https://example.org"],"count":1,"truncated":false}"#
    ),
    example(
        ask = "Which websites are in this text?",
        ask = "Find the websites",
        input = r#"{"text":"See https://example.org on 2026-11-21, call +49 228 1234. #news #art","kind":"url"}"#,
        output = r#"{"values":["https://example.org"],"count":1,"truncated":false}"#
    ),
    example(
        ask = "Extract all dates from this text",
        ask = "Find the dates in this file",
        ask = "Which dates are in this text?",
        ask = "Which dates are mentioned in this text?",
        input = r#"{"text":"See https://example.org on 2026-11-21, call +49 228 1234. #news #art","kind":"date"}"#,
        output = r#"{"values":["2026-11-21"],"count":1,"truncated":false}"#
    ),
    example(
        ask = "Which times are in this text?",
        ask = "Find the times of day in this text",
        input = r#"{"text":"Open 9:30 to 5 pm","kind":"time"}"#,
        output = r#"{"values":["9:30","5 pm"],"count":2,"truncated":false}"#
    ),
    example(
        ask = "Extract all hashtags from this text",
        ask = "List the hashtags",
        input = r##"{"text":"See https://example.org on 2026-11-21, call +49 228 1234. #news #art","kind":"hashtag"}"##,
        output = r##"{"values":["#news","#art"],"count":2,"truncated":false}"##
    ),
    example(
        ask = "Who is mentioned in this text?",
        ask = "List the mentions in this text",
        input = r#"{"text":"Thanks @ada and @bob","kind":"mention"}"#,
        output = r#"{"values":["@ada","@bob"],"count":2,"truncated":false}"#
    ),
    example(
        ask = "List the handles in this text",
        input = r#"{"text":"Thanks @ada and @bob","kind":"handle"}"#,
        output = r#"{"values":["@ada","@bob"],"count":2,"truncated":false}"#
    ),
    example(
        ask = "Extract all phone numbers from this text",
        ask = "List the phone numbers",
        ask = "Which phone numbers are in this text?",
        input = r#"{"text":"See https://example.org on 2026-11-21, call +49 228 1234. #news #art","kind":"phone_number"}"#,
        output = r#"{"values":["+49 228 1234"],"count":1,"truncated":false}"#
    ),
    example(
        ask = "Which telephone numbers are in this text?",
        ask = "List the phones in this text",
        input = r#"{"text":"See https://example.org on 2026-11-21, call +49 228 1234. #news #art","kind":"phone_number"}"#,
        output = r#"{"values":["+49 228 1234"],"count":1,"truncated":false}"#
    ),
    example(
        ask = "Which IP addresses are in this log?",
        ask = "List the IP addresses",
        input = r#"{"text":"10.0.0.1 asked 192.168.0.7","kind":"ip_address"}"#,
        output = r#"{"values":["10.0.0.1","192.168.0.7"],"count":2,"truncated":false}"#
    ),
    example(
        ask = "Which IPs are in this log?",
        ask = "List the IPs in this file",
        input = r#"{"text":"10.0.0.1 asked 192.168.0.7","kind":"ip_address"}"#
    ),
    example(
        ask = "Which postcodes are in this text?",
        ask = "List the postcodes",
        input = r#"{"text":"SW1A 1AA, London","kind":"postcode"}"#,
        output = r#"{"values":["SW1A 1AA"],"count":1,"truncated":false}"#
    ),
    example(
        ask = "Which zip codes are in this text?",
        input = r#"{"text":"Beverly Hills, CA 90210","kind":"zip_code"}"#,
        output = r#"{"values":["90210"],"count":1,"truncated":false}"#
    ),
    example(
        ask = "Which prices are in this text?",
        ask = "List the prices",
        ask = "Find all prices in this file",
        input = r#"{"text":"A lamp for $30 and a desk for 120 euros","kind":"price"}"#,
        output = r#"{"values":["$30","120 euros"],"count":2,"truncated":false}"#
    ),
    example(
        ask = "Which amounts of money are in this text?",
        ask = "Find all amounts of money",
        ask = "List the amounts in this text",
        input = r#"{"text":"A lamp for $30 and a desk for 120 euros","kind":"amount"}"#,
        output = r#"{"values":["$30","120 euros"],"count":2,"truncated":false}"#
    ),
    example(
        ask = "Which percentages are in this text?",
        ask = "List the percentages",
        input = r#"{"text":"Up 5% after 12.5 percent","kind":"percentage"}"#,
        output = r#"{"values":["5%","12.5 percent"],"count":2,"truncated":false}"#
    ),
    example(
        ask = "Which capitalised words are in this text?",
        ask = "List the words that begin with a capital letter in this text",
        input = r#"{"text":"Ada met Bob in Bonn","kind":"capitalised_word"}"#,
        output = r#"{"values":["Ada","Bob","Bonn"],"count":3,"truncated":false}"#
    ),
    example(
        ask = "Extract all words in capitals from this text",
        ask = "Which words are in capital letters in this text?",
        ask = "Which acronyms are in this text?",
        ask = "Which words are all caps in this text?",
        input = r#"{"text":"NASA and ESA met","kind":"acronym"}"#,
        output = r#"{"values":["NASA","ESA"],"count":2,"truncated":false}"#
    ),
    example(
        ask = "Which hex colours are in this file?",
        ask = "Which colours are in this file?",
        input = r##"{"text":"a { color: #ff0000; }","kind":"hex_colour"}"##,
        output = r##"{"values":["#ff0000"],"count":1,"truncated":false}"##
    ),
    example(
        ask = "Which UUIDs are in this text?",
        input = r#"{"text":"id 123e4567-e89b-12d3-a456-426614174000","kind":"uuid"}"#,
        output = r#"{"values":["123e4567-e89b-12d3-a456-426614174000"],"count":1,"truncated":false}"#
    ),
    example(
        ask = "How many email addresses are in this text?",
        ask = "How many email addresses are there?",
        ask = "Count the email addresses",
        ask = "How many email addresses does this text have?",
        ask = "Number of email addresses in this text",
        input = r#"{"text":"Mail ada@example.org or bob@example.com.","kind":"email_address","only":"count"}"#,
        output = r#"{"count":2}"#
    ),
    example(
        ask = "How many links are in this text?",
        ask = "Count the links in this file",
        input = r#"{"text":"See https://example.org on 2026-11-21, call +49 228 1234. #news #art","kind":"link","only":"count"}"#,
        output = r#"{"count":1}"#
    ),
    example(
        ask = r#"How many numbers are in "3 apples for 4.50"?"#,
        ask = r#"Count the numbers in "3 apples for 4.50""#,
        input = r#"{"text":"3 apples for 4.50","kind":"number","only":"count"}"#,
        output = r#"{"count":2}"#
    ),
    example(
        ask = "What is the first email address in this text?",
        ask = "Find the first email address in this text",
        input = r#"{"text":"Mail ada@example.org or bob@example.com.","kind":"email_address","limit":1}"#,
        output = r#"{"values":["ada@example.org"],"count":1,"truncated":true}"#
    ),
    example(
        ask = "Which different email addresses are in this text?",
        ask = "List the unique email addresses in this text",
        input = r#"{"text":"ada@example.org, bob@example.com, ada@example.org","kind":"email_address","unique":true}"#,
        output = r#"{"values":["ada@example.org","bob@example.com"],"count":2,"truncated":false}"#
    ),
    example(
        ask = "How many different email addresses are in this text?",
        ask = "How many unique email addresses are in this text?",
        input = r#"{"text":"ada@example.org, bob@example.com, ada@example.org","kind":"email_address","unique":true,"only":"count"}"#,
        output = r#"{"count":2}"#
    ),
    example(
        ask = r#"How many times does `\d+` match in "a1b22"?"#,
        ask = r#"How many matches does `\d+` have in "a1b22"?"#,
        ask = r#"Count the matches of `\d+` in "a1b22""#,
        input = r#"{"text":"a1b22","pattern":"\\d+","only":"count"}"#,
        output = r#"{"count":2}"#
    ),
    example(
        ask = r#"Find all matches of `\d+` in this text"#,
        ask = r#"Extract everything that matches `\d+` from this text"#,
        ask = r#"Which parts of this text match `\d+`?"#,
        ask = r#"Search this text for `\d+`"#,
        ask = r#"Find the pattern `\d+` in this text"#,
        ask = r#"Match `\d+` against this text"#,
        ask = r#"Find `\d+` in this file"#,
        input = r#"{"text":"a1b22","pattern":"\\d+"}"#
    ),
    example(
        ask = r#"Find all matches of `\d+` in "a1b22""#,
        ask = r#"What does `\d+` match in "a1b22"?"#,
        ask = r#"Extract `\d+` from "a1b22""#,
        ask = r#"Find the pattern `\d+` in "a1b22""#,
        ask = r#"Find `\d+` in the text "a1b22""#,
        ask = r#"Match `\d+` against "a1b22""#,
        ask = r#"Apply the regular expression `\d+` to "a1b22""#,
        input = r#"{"text":"a1b22","pattern":"\\d+"}"#,
        output = r#"{"values":["1","22"],"count":2,"truncated":false,"matches":[{"text":"1","start":1,"end":2,"groups":[]},{"text":"22","start":3,"end":5,"groups":[]}]}"#
    ),
    example(
        ask = r#"Find the first match of `\d+` in "a1b22""#,
        input = r#"{"text":"a1b22","pattern":"\\d+","limit":1}"#
    ),
    example(
        ask = r#"Find the first 2 matches of `\d+` in "a1b22c333""#,
        input = r#"{"text":"a1b22c333","pattern":"\\d+","limit":2}"#
    ),
    example(
        ask = r#"Find `error` in "Error: disk full" in any letter case"#,
        ask = r#"Find `error` in "Error: disk full" ignoring case"#,
        input = r#"{"text":"Error: disk full","pattern":"error","case_insensitive":true}"#
    ),
    example(
        ask = r#"What is group `month` of `(?<year>\d{4})-(?<month>\d{2})` in "due 2026-11-21"?"#,
        input = r#"{"text":"due 2026-11-21","pattern":"(?<year>\\d{4})-(?<month>\\d{2})","group":"month"}"#,
        output = r#"{"values":["11"],"count":1,"truncated":false,"matches":[{"text":"2026-11","start":4,"end":11,"groups":[{"index":1,"name":"year","text":"2026","start":4,"end":8},{"index":2,"name":"month","text":"11","start":9,"end":11}]}]}"#
    ),
    example(
        ask = "Find the lines that begin with `^error.*$` in this text",
        input = r#"{"text":"error: disk full\nfine","pattern":"^error.*$","multi_line":true}"#
    ),
    example(
        ask = "Extract every email address",
        ask = "Get me all the email addresses",
        ask = "Get me all the email addresses out of this text",
        ask = "Get all the email addresses out of this",
        ask = "I want to see the email addresses",
        ask = "I want to see the email addresses in this text",
        ask = "I want all email addresses",
        ask = "I need all email addresses",
        ask = "I need the email addresses",
        ask = "Let me see the email addresses",
        ask = "What email addresses can you find?",
        ask = "What email addresses can you find in this text?",
        ask = "Which email addresses can you find?",
        ask = "Which email addresses do you see?",
        ask = "Which email addresses do you see in this text?",
        ask = "Which email addresses are used in this text?",
        ask = "Which email addresses are mentioned?",
        ask = "Which email addresses are there?",
        ask = "Which email addresses are in it?",
        ask = "Which email addresses are in here?",
        ask = "What email addresses are there?",
        ask = "What are the email addresses?",
        ask = "All email addresses",
        ask = "All email addresses in this text",
        ask = "All email addresses, please",
        ask = "Email addresses in this text",
        ask = "Email addresses in here",
        ask = "Email addresses in here, all of them",
        ask = "Email addresses",
        ask = "Email addresses from this text",
        ask = "Any email addresses?",
        ask = "Any email addresses mentioned?",
        ask = "Are there email addresses in this text?",
        ask = "Show me every email address",
        ask = "Show every email address in this text",
        ask = "Find every email address",
        ask = "Find every email address in this text",
        ask = "Pull the email addresses out of this text",
        ask = "Pull all the email addresses out of this text",
        ask = "Extract the email addresses from the attached file",
        ask = "List the email addresses in the attached file",
        ask = "List all the email addresses",
        ask = "List all the email addresses in this text",
        ask = "List the email addresses that are in this text",
        ask = "List the email addresses that you find",
        input = r#"{"text":"Mail ada@example.org about #tools.","kind":"email_address"}"#
    ),
    example(
        ask = r#"Which email addresses are in "Mail ada@example.org now."?"#,
        ask = r#"Any email addresses in "Mail ada@example.org now."?"#,
        ask = r#"Any email addresses mentioned in "Mail ada@example.org now."?"#,
        ask = r#"Email addresses from "Mail ada@example.org now.""#,
        ask = r#"Email addresses in "Mail ada@example.org now.""#,
        ask = r#"Which email addresses do you see in "Mail ada@example.org now."?"#,
        ask = r#"Which email addresses are mentioned in "Mail ada@example.org now."?"#,
        ask = r#"Extract all email addresses from "Mail ada@example.org now.""#,
        ask = r#"Extract the email address from "Mail ada@example.org now.""#,
        ask = r#"Extract the email address: "Mail ada@example.org now.""#,
        ask = r#"What is the email address in "Mail ada@example.org now."?"#,
        ask = r#"Get the email addresses out of "Mail ada@example.org now.""#,
        ask = r#"Pull the email address out of "Mail ada@example.org now.""#,
        input = r#"{"text":"Mail ada@example.org now.","kind":"email_address"}"#
    ),
    example(
        ask = "How many email addresses occur in this text?",
        ask = "How many email addresses are mentioned?",
        ask = "How many email addresses are mentioned in this text?",
        ask = "How many email addresses can you find?",
        ask = "How many email addresses are in here?",
        ask = "How many email addresses are used in this text?",
        ask = "How many email addresses do you see?",
        ask = "Number of email addresses",
        ask = "Count the email addresses in this text",
        ask = "How many email addresses are in the attached file?",
        input = r#"{"text":"Mail ada@example.org about #tools.","kind":"email_address","only":"count"}"#
    ),
    example(
        ask = "Which phone numbers are listed?",
        ask = "What phone numbers are there?",
        ask = "Phone nos in this text",
        ask = "Which telephone numbers are there?",
        ask = "List the telephone numbers",
        ask = "Extract the telephone numbers",
        ask = "Find the phone nos",
        input = r#"{"text":"Call +49 228 1234","kind":"phone_number"}"#
    ),
    example(
        ask = "Which dollar amounts are in this text?",
        ask = "List the dollar amounts",
        ask = "Which sums of money are in this text?",
        ask = "How much money is mentioned in this text?",
        input = r#"{"text":"A lamp for $30","kind":"amount"}"#
    ),
    example(
        ask = r#"Matches of `\d+`"#,
        ask = r#"Matches of `\d+` in this text"#,
        ask = r#"All matches of `\d+`"#,
        ask = r#"All matches of `\d+` in this text"#,
        ask = r#"Everything that matches `\d+`"#,
        ask = r#"Everything that matches `\d+` in this text"#,
        ask = r#"Everything matching `\d+` in this text"#,
        ask = r#"Find everything that matches the pattern `\d+`"#,
        ask = r#"Find everything that matches the regex `\d+`"#,
        ask = r#"Find everything that matches the regular expression `\d+`"#,
        ask = r#"Find everything that matches the regular expression `\d+` in this text"#,
        ask = r#"Find all matches of the regex `\d+`"#,
        ask = r#"Find all matches of the regular expression `\d+`"#,
        ask = r#"Find all matches of the regular expression `\d+` in this text"#,
        ask = r#"Find what matches the regular expression `\d+`"#,
        ask = r#"What matches `\d+`?"#,
        ask = r#"What matches the pattern `\d+`?"#,
        ask = r#"What does `\d+` match?"#,
        ask = r#"What does the regex `\d+` find?"#,
        ask = r#"What does `\d+` find in this text?"#,
        ask = r#"Which parts match `\d+`?"#,
        ask = r#"Which parts match the regex `\d+`?"#,
        ask = r#"Extract everything that matches the regex `\d+`"#,
        ask = r#"Extract `\d+` from this text"#,
        ask = r#"Extract all `\d+`"#,
        ask = r#"Search with `\d+`"#,
        ask = r#"Search for the pattern `\d+`"#,
        ask = r#"Run the regular expression `\d+` on this text"#,
        ask = r#"Run the regex `\d+` over this text"#,
        ask = r#"Run the pattern `\d+` over this text"#,
        ask = r#"Run this regex over this text: `\d+`"#,
        ask = r#"Apply the regular expression `\d+`"#,
        ask = r#"Use the regex `\d+`"#,
        ask = r#"Using the pattern `\d+`, extract the matches"#,
        ask = r#"Using the regex `\d+`, find all matches"#,
        ask = r#"Match `\d+` in this text"#,
        ask = r#"Match the regex `\d+` against this text"#,
        ask = r#"The regex is `\d+`"#,
        ask = r#"Regex `\d+`"#,
        ask = r#"Try the regex `\d+` on this text"#,
        input = r#"{"text":"a1b22","pattern":"\\d+"}"#
    ),
    example(
        ask = r#"Match `\d+` in "a1b22""#,
        ask = r#"Find everything that matches `\d+` in "a1b22""#,
        ask = r#"Find what matches `\d+` in "a1b22""#,
        ask = r#"What matches `\d+` in "a1b22"?"#,
        ask = r#"Which parts of "a1b22" match `\d+`?"#,
        ask = r#"Matches of `\d+` in "a1b22""#,
        ask = r#"Run the regex `\d+` on "a1b22""#,
        ask = r#"Run `\d+` on "a1b22""#,
        ask = r#"Use the regex `\d+` on "a1b22""#,
        input = r#"{"text":"a1b22","pattern":"\\d+"}"#
    ),
    example(
        ask = r#"How many times does `\d+` match?"#,
        ask = r#"How often does `\d+` match?"#,
        ask = r#"How many matches of `\d+` are there?"#,
        ask = r#"How many matches does `\d+` have?"#,
        ask = r#"Count the matches of `\d+`"#,
        ask = r#"Number of matches of `\d+`"#,
        ask = r#"How many parts match `\d+`?"#,
        input = r#"{"text":"a1b22","pattern":"\\d+","only":"count"}"#
    ),
    limits(fuel = 2_000_000_000, memory = "64 MiB", timeout = "20s")
)]
fn regex_extract(input: RegexExtractInput) -> Result<RegexExtractOutput> {
    extract::extract(&input).map_err(ToolError::validation)
}
