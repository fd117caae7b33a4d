//! `datetime`: date and time arithmetic.

use std::time::SystemTime;

use art_sdk::prelude::*;
use jiff::Timestamp;

mod error;
mod holidays;
mod io;
mod moment;
mod operations;
mod phrase;
mod words;
mod workdays;
mod zone;

#[cfg(test)]
mod tests;

use error::DateError;
use io::{DatetimeInput, DatetimeOutput};

/// Answers questions about dates and times: how many days, weeks, months, years or hours lie between two dates, what
/// date it is some days before or after another one, which weekday (day of the week) a date falls on, what time it is
/// in another time zone or city, and what the current date and time is now or today. Also reads and formats dates.
/// Knows leap years, weeks, quarters, working days, holidays, time zones and daylight saving time. Returns the answer: a
/// number or a text.
#[tool(
    example(
        ask = "What day of the week is that, 2026-11-21?",
        ask = "What weekday does 2026-11-21 fall on?",
        ask = "Which weekday does 2026-11-21 fall on?",
        ask = "On which weekday does 2026-11-21 fall?",
        ask = "On which weekday will 2026-11-21 fall?",
        ask = "What day does 2026-11-21 fall on?",
        ask = "My flight leaves on 2026-11-21; what day of the week is that?",
        ask = "Is 2026-11-21 what weekday?",
        ask = "Tell me the weekday of 2026-11-21",
        ask = "Day of the week for 2026-11-21",
        ask = "Weekday for 2026-11-21",
        ask = "Which day is 2026-11-21?",
        input = r#"{"operation":"weekday","date":"2026-11-21"}"#
    ),
    example(
        ask = "On which weekday will Christmas 2027 fall?",
        ask = "On which weekday does Christmas 2027 fall?",
        ask = "What weekday is Christmas 2027?",
        ask = "Which day of the week will Christmas 2027 be?",
        input = r#"{"operation":"weekday","date":"Christmas","year":2027}"#
    ),
    example(
        ask = "Which date will it be in 45 days?",
        ask = "Which date is it in 45 days?",
        ask = "What date is in 45 days?",
        ask = "What is the date 45 days from now?",
        ask = "What will be the date 45 days from today?",
        ask = "Date in 45 days",
        ask = "45 days from now",
        ask = "45 days from today",
        ask = "When is 45 days from now?",
        ask = "Which day is 45 days from today?",
        input = r#"{"operation":"add","date":"today","amount":45,"unit":"days"}"#
    ),
    example(
        ask = "Add 3 weeks to 2026-11-21",
        ask = "2026-11-21 plus 3 weeks",
        ask = "What is 3 weeks after 2026-11-21?",
        ask = "3 weeks from 2026-11-21",
        ask = "Which date is 3 weeks from 2026-11-21?",
        ask = "the date 3 weeks after 2026-11-21",
        ask = "When is 3 weeks after 2026-11-21?",
        ask = "What day is 3 weeks after 2026-11-21?",
        ask = "A deadline is 3 weeks after 2026-11-21; when is that?",
        ask = "When does a 3 weeks trial end that started on 2026-11-21?",
        ask = "When do 3 weeks end that began on 2026-11-21?",
        input = r#"{"operation":"add","date":"2026-11-21","amount":3,"unit":"weeks"}"#
    ),
    example(
        ask = "Subtract 3 weeks from 2026-11-21",
        ask = "2026-11-21 minus 3 weeks",
        ask = "What is 3 weeks before 2026-11-21?",
        ask = "What was 3 weeks before 2026-11-21?",
        ask = "What was the date 3 weeks before 2026-11-21?",
        ask = "the date 3 weeks before 2026-11-21",
        ask = "When was 3 weeks before 2026-11-21?",
        input = r#"{"operation":"subtract","date":"2026-11-21","amount":3,"unit":"weeks"}"#
    ),
    example(
        ask = "Which date was it 2 weeks ago?",
        ask = "The date 2 weeks ago",
        ask = "When was 2 weeks ago?",
        ask = "What was the date 2 weeks before today?",
        input = r#"{"operation":"subtract","date":"today","amount":2,"unit":"weeks"}"#
    ),
    example(
        ask = "Days from 2026-02-15 to 2026-04-04",
        ask = "Days between 2026-02-15 and 2026-04-04",
        ask = "Number of days between 2026-02-15 and 2026-04-04",
        ask = "Number of days from 2026-02-15 until 2026-04-04",
        ask = "How many days from 2026-02-15 until 2026-04-04?",
        ask = "How many days lie between 2026-02-15 and 2026-04-04?",
        ask = "How many days pass between 2026-02-15 and 2026-04-04?",
        ask = "Count the days between 2026-02-15 and 2026-04-04",
        input = r#"{"operation":"difference","start":"2026-02-15","end":"2026-04-04","unit":"days"}"#
    ),
    example(
        ask = "How many weeks from 2026-02-15 until 2026-04-04?",
        ask = "Weeks between 2026-02-15 and 2026-04-04",
        input = r#"{"operation":"difference","start":"2026-02-15","end":"2026-04-04","unit":"weeks"}"#
    ),
    example(
        ask = "How old is someone born on 5 May 1990 today?",
        ask = "How old is someone born on 5 May 1990 in years?",
        ask = "How old is someone born on 5 May 1990 in years today?",
        ask = "How old am I if I was born on 5 May 1990?",
        ask = "I was born on 5 May 1990. How old am I?",
        ask = "What age is someone born on 5 May 1990?",
        ask = "How many years old is someone born on 5 May 1990?",
        ask = "My birthday is 5 May 1990, how old am I?",
        input = r#"{"operation":"difference","start":"5 May 1990","end":"today","unit":"years"}"#
    ),
    example(
        ask = "How many weeks are left until 2026-12-31?",
        ask = "How many weeks until 2026-12-31?",
        ask = "Weeks until 2026-12-31",
        ask = "Weeks left until 2026-12-31",
        input = r#"{"operation":"difference","start":"today","end":"2026-12-31","unit":"weeks"}"#
    ),
    example(
        ask = "How many business days between 2026-06-01 and 2026-06-30?",
        ask = "Business days between 2026-06-01 and 2026-06-30",
        ask = "Working days between 2026-06-01 and 2026-06-30",
        ask = "How many working days from 2026-06-01 to 2026-06-30?",
        ask = "How many business days from 2026-06-01 to 2026-06-30?",
        ask = "How many working days are there from 2026-06-01 to 2026-06-30?",
        ask = "Number of working days between 2026-06-01 and 2026-06-30",
        input = r#"{"operation":"difference","start":"2026-06-01","end":"2026-06-30","unit":"working_days"}"#
    ),
    example(
        ask = "10 working days after 2026-03-02",
        ask = "10 business days after 2026-03-02",
        ask = "Add 10 working days to 2026-03-02",
        ask = "What is 10 working days after 2026-03-02?",
        ask = "When is 10 working days after 2026-03-02?",
        ask = "the date 10 business days after 2026-03-02",
        input = r#"{"operation":"add","date":"2026-03-02","amount":10,"unit":"working_days"}"#
    ),
    example(
        ask = "10 working days before 2026-03-16",
        ask = "10 business days before 2026-03-16",
        ask = "Subtract 10 working days from 2026-03-16",
        ask = "What is 10 working days before 2026-03-16?",
        input = r#"{"operation":"subtract","date":"2026-03-16","amount":10,"unit":"working_days"}"#
    ),
    example(
        ask = "What was yesterday's date?",
        ask = "What date was it yesterday?",
        ask = "What date was yesterday?",
        ask = "Which date was yesterday?",
        ask = "Yesterday's date",
        ask = "What was the date yesterday?",
        input = r#"{"operation":"subtract","date":"today","amount":1,"unit":"days"}"#
    ),
    example(
        ask = "What's the time in Tokyo?",
        ask = "What's the time in Tokyo right now?",
        ask = "Current time in Tokyo",
        ask = "Time now in Tokyo",
        ask = "What time is it currently in Tokyo?",
        ask = "How late is it in Tokyo?",
        input = r#"{"operation":"now","to_zone":"Tokyo"}"#
    ),
    example(
        ask = "If it's 3 pm in Berlin, what time is it in Tokyo?",
        ask = "What time is 3 pm in Berlin in Tokyo?",
        ask = "What's 3 pm Berlin time in Tokyo?",
        ask = "3 pm in Berlin in Tokyo time",
        ask = "What time is it in Tokyo when it's 3 pm in Berlin?",
        ask = "When it's 3 pm in Berlin, what time is it in Tokyo?",
        ask = "Convert 3 pm from Berlin to Tokyo time",
        ask = "Convert 3 pm from Berlin time to Tokyo time",
        ask = "3 pm Berlin time in Tokyo time",
        input = r#"{"operation":"convert","date":"3 pm","from_zone":"Berlin","to_zone":"Tokyo"}"#
    ),
    example(
        ask = "Convert 2026-03-10 14:00 from New York to Berlin time",
        ask = "Convert 2026-03-10 14:00 from New York to Berlin",
        ask = "What is 2026-03-10 14:00 in New York in Berlin?",
        input = r#"{"operation":"convert","date":"2026-03-10 14:00","from_zone":"New York","to_zone":"Berlin"}"#
    ),
    example(
        ask = "What day number of the year is 2026-05-01?",
        ask = "What day number is 2026-05-01?",
        ask = "Which number of the year has 2026-05-01?",
        ask = "Day of the year of 2026-05-01",
        ask = "Day number of 2026-05-01",
        input = r#"{"operation":"day_of_year","date":"2026-05-01"}"#
    ),
    example(
        ask = "What's the ISO week of 2026-05-01?",
        ask = "ISO week of 2026-05-01",
        ask = "Which week of the year is 2026-05-01 in?",
        ask = "Week number of 2026-05-01",
        ask = "Calendar week of 2026-05-01",
        ask = "Which calendar week is 2026-05-01?",
        input = r#"{"operation":"week_number","date":"2026-05-01"}"#
    ),
    example(
        ask = "What quarter is 2026-08-05 in?",
        ask = "Which quarter does 2026-08-05 fall in?",
        ask = "Quarter of 2026-08-05",
        input = r#"{"operation":"quarter","date":"2026-08-05"}"#
    ),
    example(
        ask = "Format 2026-02-03 as day.month.year",
        ask = "Write 2026-02-03 as day.month.year",
        input = r#"{"operation":"format","date":"2026-02-03","format":"%d.%m.%Y"}"#
    ),
    example(
        ask = "When is Easter Sunday in 2027?",
        ask = "When is Easter in 2027?",
        ask = "On which date is Easter 2027?",
        ask = "What is the date of Easter 2027?",
        input = r#"{"operation":"format","date":"Easter","year":2027,"format":"%A, %-d %B %Y"}"#
    ),
    example(
        ask = "How many days are there between 2024-02-27 and 2026-11-21?",
        ask = "How many days are between 2024-02-27 and 2026-11-21?",
        ask = "How many days lie between 2024-02-27 and 2026-11-21?",
        ask = "How many days is it from 2024-02-27 to 2026-11-21?",
        ask = "Days from 2024-02-27 to 2026-11-21",
        ask = "How many days from 2024-02-27 to 2026-11-21?",
        ask = "Number of days between 2024-02-27 and 2026-11-21",
        input = r#"{"operation":"difference","start":"2024-02-27","end":"2026-11-21","unit":"days"}"#,
        output = r#"{"result":998}"#
    ),
    example(
        ask = "How many weeks are there between 1 March 2026 and 24 December 2026?",
        ask = "How many weeks from 1 March 2026 to 24 December 2026?",
        input = r#"{"operation":"difference","start":"1 March 2026","end":"24 December 2026","unit":"weeks"}"#,
        output = r#"{"result":"42 weeks, 4 days (42.57 weeks)"}"#
    ),
    example(
        ask = "How many hours are there between 9:15 and 17:45?",
        ask = "How many hours is it from 9:15 to 17:45?",
        input = r#"{"operation":"difference","start":"9:15","end":"17:45","unit":"hours"}"#,
        output = r#"{"result":"8 hours, 30 minutes (8.5 hours)"}"#
    ),
    example(
        ask = "How long is it from 2026-01-15 to 2026-07-04?",
        ask = "How long is it between 2026-01-15 and 2026-07-04?",
        ask = "What is the difference between 2026-01-15 and 2026-07-04?",
        input = r#"{"operation":"difference","start":"2026-01-15","end":"2026-07-04"}"#,
        output = r#"{"result":"5 months, 19 days (170 days)"}"#
    ),
    example(
        ask = "How many days until Christmas?",
        ask = "How many days are left until Christmas?",
        ask = "How many days is it until Christmas?",
        ask = "Days until Christmas",
        ask = "How many days to Christmas?",
        input = r#"{"operation":"difference","start":"today","end":"Christmas","unit":"days"}"#
    ),
    example(
        ask = "How many days until Halloween?",
        input = r#"{"operation":"difference","start":"today","end":"Halloween","unit":"days"}"#
    ),
    example(
        ask = "How many days until Valentine's Day?",
        input = r#"{"operation":"difference","start":"today","end":"Valentine's Day","unit":"days"}"#
    ),
    example(
        ask = "How many days until New Year's Day?",
        input = r#"{"operation":"difference","start":"today","end":"New Year's Day","unit":"days"}"#
    ),
    example(
        ask = "How many days until Monday?",
        input = r#"{"operation":"difference","start":"today","end":"Monday","unit":"days"}"#
    ),
    example(
        ask = "How many days until Tuesday?",
        input = r#"{"operation":"difference","start":"today","end":"Tuesday","unit":"days"}"#
    ),
    example(
        ask = "How many days until Wednesday?",
        input = r#"{"operation":"difference","start":"today","end":"Wednesday","unit":"days"}"#
    ),
    example(
        ask = "How many days until Thursday?",
        input = r#"{"operation":"difference","start":"today","end":"Thursday","unit":"days"}"#
    ),
    example(
        ask = "How many days until Friday?",
        input = r#"{"operation":"difference","start":"today","end":"Friday","unit":"days"}"#
    ),
    example(
        ask = "How many days until Saturday?",
        input = r#"{"operation":"difference","start":"today","end":"Saturday","unit":"days"}"#
    ),
    example(
        ask = "How many days until Sunday?",
        input = r#"{"operation":"difference","start":"today","end":"Sunday","unit":"days"}"#
    ),
    example(
        ask = "How many days until 25 December?",
        input = r#"{"operation":"difference","start":"today","end":"25 December","unit":"days"}"#
    ),
    example(
        ask = "How many weeks until 2027-06-01?",
        ask = "How many weeks are left until 2027-06-01?",
        input = r#"{"operation":"difference","start":"today","end":"2027-06-01","unit":"weeks"}"#
    ),
    example(
        ask = "How long until New Year's Eve?",
        ask = "How long is it until New Year's Eve?",
        ask = "How far away is New Year's Eve?",
        input = r#"{"operation":"difference","start":"today","end":"New Year's Eve"}"#
    ),
    example(
        ask = "How many days have passed since 2026-01-01?",
        ask = "How many days since 2026-01-01?",
        ask = "How many days ago was 2026-01-01?",
        ask = "How many days is it since 2026-01-01?",
        input = r#"{"operation":"difference","start":"2026-01-01","end":"today","unit":"days"}"#
    ),
    example(
        ask = "How old is someone born on 5 May 1990?",
        ask = "How old is a person who was born on 5 May 1990?",
        ask = "I was born on 5 May 1990, how old am I?",
        input = r#"{"operation":"difference","start":"5 May 1990","end":"today","unit":"years"}"#
    ),
    example(
        ask = "What date is 30 days after 2026-01-31?",
        ask = "Which date is 30 days after 2026-01-31?",
        ask = "What is the date 30 days after 2026-01-31?",
        ask = "30 days after 2026-01-31",
        ask = "Add 30 days to 2026-01-31",
        input = r#"{"operation":"add","date":"2026-01-31","amount":30,"unit":"days"}"#,
        output = r#"{"result":"Monday, 2 March 2026"}"#
    ),
    example(
        ask = "What date is one month after 31 January 2026?",
        ask = "What is the date a month after 31 January 2026?",
        input = r#"{"operation":"add","date":"31 January 2026","amount":1,"unit":"months"}"#,
        output = r#"{"result":"Saturday, 28 February 2026"}"#
    ),
    example(
        ask = "What date is 3 weeks from today?",
        ask = "What date is it in 3 weeks?",
        ask = "What will the date be in 3 weeks?",
        ask = "What date will it be in 3 weeks?",
        ask = "What is the date in 3 weeks?",
        ask = "3 weeks from today",
        ask = "3 weeks from now",
        input = r#"{"operation":"add","date":"today","amount":3,"unit":"weeks"}"#
    ),
    example(
        ask = "What day will it be in 10 days?",
        ask = "What day is it in 10 days?",
        ask = "Which weekday will it be in 10 days?",
        ask = "What day of the week will it be in 10 days?",
        input = r#"{"operation":"add","date":"today","amount":10,"unit":"days"}"#
    ),
    example(
        ask = "What day was it 10 days ago?",
        ask = "What day of the week was it 10 days ago?",
        input = r#"{"operation":"subtract","date":"today","amount":10,"unit":"days"}"#
    ),
    example(
        ask = "What time will it be in 90 minutes?",
        ask = "What time is it in 90 minutes?",
        input = r#"{"operation":"add","date":"now","amount":90,"unit":"minutes"}"#
    ),
    example(
        ask = "What time is 45 minutes after 14:30?",
        ask = "Add 45 minutes to 14:30",
        input = r#"{"operation":"add","date":"14:30","amount":45,"unit":"minutes"}"#,
        output = r#"{"result":"15:15"}"#
    ),
    example(
        ask = "What date was 30 days before 2026-03-01?",
        ask = "What date is 30 days before 2026-03-01?",
        ask = "Which date was 30 days before 2026-03-01?",
        ask = "30 days before 2026-03-01",
        ask = "Subtract 30 days from 2026-03-01",
        input = r#"{"operation":"subtract","date":"2026-03-01","amount":30,"unit":"days"}"#,
        output = r#"{"result":"Friday, 30 January 2026"}"#
    ),
    example(
        ask = "What date was it 2 weeks ago?",
        ask = "What was the date 2 weeks ago?",
        ask = "What date was 2 weeks ago?",
        ask = "2 weeks ago",
        input = r#"{"operation":"subtract","date":"today","amount":2,"unit":"weeks"}"#
    ),
    example(
        ask = "What day of the week is 2026-12-25?",
        ask = "Which day of the week is 2026-12-25?",
        ask = "What weekday is 2026-12-25?",
        ask = "What day is 2026-12-25?",
        ask = "Which day of the week does 2026-12-25 fall on?",
        ask = "Weekday of 2026-12-25",
        input = r#"{"operation":"weekday","date":"2026-12-25"}"#,
        output = r#"{"result":"Friday"}"#
    ),
    example(
        ask = "What day of the week was 20 July 1969?",
        ask = "Which weekday was 20 July 1969?",
        ask = "What day was 20 July 1969?",
        ask = "On what day of the week was 20 July 1969?",
        input = r#"{"operation":"weekday","date":"20 July 1969"}"#,
        output = r#"{"result":"Sunday"}"#
    ),
    example(
        ask = "What day of the week is Christmas?",
        ask = "On which weekday is Christmas this year?",
        ask = "What day does Christmas fall on?",
        input = r#"{"operation":"weekday","date":"Christmas"}"#
    ),
    example(
        ask = "What day is it today?",
        ask = "What day of the week is it today?",
        ask = "Which weekday is today?",
        input = r#"{"operation":"weekday","date":"today"}"#
    ),
    example(
        ask = "What day was it yesterday?",
        ask = "What day of the week was yesterday?",
        input = r#"{"operation":"weekday","date":"yesterday"}"#
    ),
    example(
        ask = "What date is it tomorrow?",
        ask = "What is tomorrow's date?",
        input = r#"{"operation":"add","date":"today","amount":1,"unit":"days"}"#
    ),
    example(
        ask = "What day is it tomorrow?",
        ask = "What day of the week is tomorrow?",
        input = r#"{"operation":"weekday","date":"tomorrow"}"#
    ),
    example(
        ask = "What time is it?",
        ask = "What time is it now?",
        ask = "What is the current time?",
        ask = "What is the date today?",
        ask = "What is today's date?",
        ask = "What is the current date and time?",
        ask = "What date is it?",
        ask = "What date is today?",
        input = r#"{"operation":"now"}"#
    ),
    example(
        ask = "What time is it in Tokyo?",
        ask = "What time is it now in Tokyo?",
        ask = "What is the current time in Tokyo?",
        ask = "What is the time in Tokyo?",
        ask = "Time in Tokyo",
        input = r#"{"operation":"now","to_zone":"Tokyo"}"#
    ),
    example(
        ask = "What time is it in Tokyo when it is 3 pm in Berlin?",
        ask = "When it is 3 pm in Berlin, what time is it in Tokyo?",
        ask = "If it is 3 pm in Berlin, what time is it in Tokyo?",
        ask = "It is 3 pm in Berlin, what time is it in Tokyo?",
        ask = "What is 3 pm in Berlin in Tokyo time?",
        ask = "Convert 3 pm from Berlin to Tokyo",
        ask = "Convert 3 pm to Tokyo time from Berlin",
        ask = "What is 3 pm Berlin time in Tokyo?",
        ask = "Convert 3 pm Berlin time to Tokyo time",
        ask = "3 pm in Berlin is what time in Tokyo?",
        input = r#"{"operation":"convert","date":"3 pm","from_zone":"Berlin","to_zone":"Tokyo"}"#
    ),
    example(
        ask = "Convert 2026-11-21T15:00 from Europe/Berlin to Asia/Tokyo",
        ask = "What is 2026-11-21T15:00 in Europe/Berlin in Asia/Tokyo?",
        input = r#"{"operation":"convert","date":"2026-11-21T15:00","from_zone":"Europe/Berlin","to_zone":"Asia/Tokyo"}"#,
        output = r#"{"result":"23:00 on Saturday, 21 November 2026 (Asia/Tokyo)"}"#
    ),
    example(
        ask = "Convert 15:00 UTC to New York time",
        ask = "What is 15:00 UTC in New York?",
        ask = "What time is 15:00 UTC in New York?",
        input = r#"{"operation":"convert","date":"15:00","from_zone":"UTC","to_zone":"New York"}"#
    ),
    example(
        ask = "What time is it in Berlin when it is noon in New York?",
        input = r#"{"operation":"convert","date":"noon","from_zone":"New York","to_zone":"Berlin"}"#
    ),
    example(
        ask = "Which date is the Unix timestamp 1709028000?",
        ask = "Convert the Unix timestamp 1709028000 to a date",
        ask = "What date is the Unix time 1709028000?",
        input = r#"{"operation":"parse","date":"1709028000"}"#,
        output = r#"{"result":"2024-02-27T10:00:00+00:00"}"#
    ),
    example(
        ask = "Write 21 November 2026 in ISO format",
        ask = "Write 21 November 2026 as an ISO date",
        input = r#"{"operation":"parse","date":"21 November 2026"}"#,
        output = r#"{"result":"2026-11-21"}"#
    ),
    example(
        ask = "Write 2026-11-21 as `%d.%m.%Y`",
        ask = "Format 2026-11-21 as `%d.%m.%Y`",
        input = r#"{"operation":"format","date":"2026-11-21","format":"%d.%m.%Y"}"#,
        output = r#"{"result":"21.11.2026"}"#
    ),
    example(
        ask = "Which week number is 2026-11-21?",
        ask = "What week number is 2026-11-21?",
        ask = "What is the week number of 2026-11-21?",
        input = r#"{"operation":"week_number","date":"2026-11-21"}"#,
        output = r#"{"result":47}"#
    ),
    example(
        ask = "What week of the year is 2026-11-21?",
        ask = "In which week of the year is 2026-11-21?",
        ask = "In which week is 2026-11-21?",
        ask = "Which week is 2026-11-21 in?",
        ask = "Which calendar week is 2026-11-21?",
        input = r#"{"operation":"week_number","date":"2026-11-21"}"#,
        output = r#"{"result":47}"#
    ),
    example(
        ask = "What week number is it today?",
        ask = "What week number is it?",
        ask = "Which week of the year is it?",
        input = r#"{"operation":"week_number","date":"today"}"#
    ),
    example(
        ask = "What day of the year is 2026-11-21?",
        ask = "Which day of the year is 2026-11-21?",
        ask = "What number day of the year is 2026-11-21?",
        input = r#"{"operation":"day_of_year","date":"2026-11-21"}"#,
        output = r#"{"result":325}"#
    ),
    example(
        ask = "What day of the year is it today?",
        ask = "Which day of the year is today?",
        input = r#"{"operation":"day_of_year","date":"today"}"#
    ),
    example(
        ask = "Which quarter is 2026-11-21?",
        ask = "In which quarter is 2026-11-21?",
        ask = "What quarter is 2026-11-21 in?",
        ask = "Which quarter of the year is 2026-11-21 in?",
        input = r#"{"operation":"quarter","date":"2026-11-21"}"#,
        output = r#"{"result":4}"#
    ),
    example(
        ask = "Is 2028 a leap year?",
        ask = "Was 2028 a leap year?",
        ask = "Will 2028 be a leap year?",
        ask = "Leap year 2028?",
        input = r#"{"operation":"leap_year","year":2028}"#,
        output = r#"{"result":"yes, 2028 is a leap year"}"#
    ),
    example(
        ask = "How many working days are there between 2026-03-02 and 2026-03-31?",
        ask = "How many working days are between 2026-03-02 and 2026-03-31?",
        ask = "Working days from 2026-03-02 to 2026-03-31",
        input = r#"{"operation":"difference","start":"2026-03-02","end":"2026-03-31","unit":"working_days"}"#,
        output = r#"{"result":"22 working days (Monday to Friday, first and last day included)"}"#
    ),
    example(
        ask = "How many weekdays are there between 2026-03-02 and 2026-03-31?",
        ask = "How many business days are there between 2026-03-02 and 2026-03-31?",
        ask = "How many weekdays from 2026-03-02 to 2026-03-31?",
        ask = "How many business days from 2026-03-02 to 2026-03-31?",
        input = r#"{"operation":"difference","start":"2026-03-02","end":"2026-03-31","unit":"working_days"}"#
    ),
    example(
        ask = "How many working days until Christmas?",
        input = r#"{"operation":"difference","start":"today","end":"Christmas","unit":"working_days"}"#
    ),
    example(
        ask = "What date is 10 working days after 2026-03-02?",
        ask = "Which date is 10 working days after 2026-03-02?",
        input = r#"{"operation":"add","date":"2026-03-02","amount":10,"unit":"working_days"}"#,
        output = r#"{"result":"Monday, 16 March 2026"}"#
    ),
    example(
        ask = "What date is 10 business days after 2026-03-02?",
        input = r#"{"operation":"add","date":"2026-03-02","amount":10,"unit":"working_days"}"#
    ),
    example(
        ask = "What date was 10 working days before 2026-03-16?",
        input = r#"{"operation":"subtract","date":"2026-03-16","amount":10,"unit":"working_days"}"#,
        output = r#"{"result":"Monday, 2 March 2026"}"#
    ),
    example(
        ask = "How old was someone born on 5 May 1990 on 1 June 2020?",
        ask = "How old was a person who was born on 5 May 1990 on 1 June 2020?",
        ask = "If someone was born on 5 May 1990, how old were they on 1 June 2020?",
        input = r#"{"operation":"difference","start":"5 May 1990","end":"1 June 2020","unit":"years"}"#,
        output = r#"{"result":"30 years, 27 days (30.07 years)"}"#
    ),
    example(
        ask = "How many months are there between 2026-01-15 and 2026-07-15?",
        ask = "How many months from 2026-01-15 to 2026-07-15?",
        input = r#"{"operation":"difference","start":"2026-01-15","end":"2026-07-15","unit":"months"}"#,
        output = r#"{"result":6}"#
    ),
    example(
        ask = "How many years are there between 1969-07-20 and 2019-07-20?",
        input = r#"{"operation":"difference","start":"1969-07-20","end":"2019-07-20","unit":"years"}"#,
        output = r#"{"result":50}"#
    ),
    example(
        ask = "How many minutes are there between 9:15 and 17:45?",
        ask = "How many minutes from 9:15 to 17:45?",
        input = r#"{"operation":"difference","start":"9:15","end":"17:45","unit":"minutes"}"#,
        output = r#"{"result":510}"#
    ),
    example(
        ask = "How long is it from 9:15 to 17:45?",
        ask = "How much time is between 9:15 and 17:45?",
        input = r#"{"operation":"difference","start":"9:15","end":"17:45"}"#,
        output = r#"{"result":"8 hours, 30 minutes"}"#
    ),
    example(
        ask = "How many days until Christmas 2027?",
        ask = "How many days are left until Christmas 2027?",
        input = r#"{"operation":"difference","start":"today","end":"Christmas","unit":"days","year":2027}"#
    ),
    example(
        ask = "How many days until Thanksgiving?",
        input = r#"{"operation":"difference","start":"today","end":"Thanksgiving","unit":"days"}"#
    ),
    example(
        ask = "How many days until Easter?",
        input = r#"{"operation":"difference","start":"today","end":"Easter","unit":"days"}"#
    ),
    example(
        ask = "How many days until Independence Day?",
        input = r#"{"operation":"difference","start":"today","end":"Independence Day","unit":"days"}"#
    ),
    example(
        ask = "How many days until New Year?",
        input = r#"{"operation":"difference","start":"today","end":"New Year","unit":"days"}"#
    ),
    example(
        ask = "How many days since Christmas?",
        input = r#"{"operation":"difference","start":"Christmas","end":"today","unit":"days"}"#
    ),
    example(
        ask = "How many days are there between Christmas and New Year's Eve?",
        input = r#"{"operation":"difference","start":"Christmas","end":"New Year's Eve","unit":"days"}"#
    ),
    example(
        ask = "What day of the week is Christmas 2027?",
        ask = "What day is Christmas 2027?",
        ask = "Which weekday is Christmas 2027?",
        ask = "On what day does Christmas 2027 fall?",
        ask = "What day of the week is Christmas in 2027?",
        input = r#"{"operation":"weekday","date":"Christmas","year":2027}"#,
        output = r#"{"result":"Saturday"}"#
    ),
    example(
        ask = "What day of the week is New Year's Day 2030?",
        input = r#"{"operation":"weekday","date":"New Year's Day","year":2030}"#,
        output = r#"{"result":"Tuesday"}"#
    ),
    example(
        ask = "What day of the week is Halloween 2027?",
        input = r#"{"operation":"weekday","date":"Halloween","year":2027}"#,
        output = r#"{"result":"Sunday"}"#
    ),
    example(
        ask = "What day of the week is Valentine's Day 2028?",
        input = r#"{"operation":"weekday","date":"Valentine's Day","year":2028}"#,
        output = r#"{"result":"Monday"}"#
    ),
    example(
        ask = "What day of the week is Independence Day 2027?",
        input = r#"{"operation":"weekday","date":"Independence Day","year":2027}"#,
        output = r#"{"result":"Sunday"}"#
    ),
    example(
        ask = "What day of the week is New Year's Eve 2027?",
        input = r#"{"operation":"weekday","date":"New Year's Eve","year":2027}"#,
        output = r#"{"result":"Friday"}"#
    ),
    example(
        ask = "What day of the week is Christmas Eve 2027?",
        input = r#"{"operation":"weekday","date":"Christmas Eve","year":2027}"#,
        output = r#"{"result":"Friday"}"#
    ),
    example(
        ask = "What day of the week is Boxing Day 2027?",
        input = r#"{"operation":"weekday","date":"Boxing Day","year":2027}"#,
        output = r#"{"result":"Sunday"}"#
    ),
    example(
        ask = "When is Easter 2027?",
        ask = "What date is Easter 2027?",
        ask = "On what date is Easter in 2027?",
        input = r#"{"operation":"format","date":"Easter","year":2027,"format":"%A, %-d %B %Y"}"#,
        output = r#"{"result":"Sunday, 28 March 2027"}"#
    ),
    example(
        ask = "When is Thanksgiving 2027?",
        input = r#"{"operation":"format","date":"Thanksgiving","year":2027,"format":"%A, %-d %B %Y"}"#,
        output = r#"{"result":"Thursday, 25 November 2027"}"#
    ),
    example(
        ask = "When is Good Friday 2027?",
        input = r#"{"operation":"format","date":"Good Friday","year":2027,"format":"%A, %-d %B %Y"}"#,
        output = r#"{"result":"Friday, 26 March 2027"}"#
    ),
    example(
        ask = "When is Memorial Day 2027?",
        input = r#"{"operation":"format","date":"Memorial Day","year":2027,"format":"%A, %-d %B %Y"}"#
    ),
    example(
        ask = "When is the last Monday of May 2027?",
        ask = "What date is the last Monday of May 2027?",
        input = r#"{"operation":"format","date":"last Monday of May","year":2027,"format":"%A, %-d %B %Y"}"#,
        output = r#"{"result":"Monday, 31 May 2027"}"#
    ),
    example(
        ask = "When is the first Monday of September 2027?",
        input = r#"{"operation":"format","date":"first Monday of September","year":2027,"format":"%A, %-d %B %Y"}"#
    ),
    example(
        ask = "When is Thanksgiving?",
        ask = "What date is Thanksgiving?",
        ask = "When is Thanksgiving this year?",
        input = r#"{"operation":"format","date":"Thanksgiving","format":"%A, %-d %B %Y"}"#
    ),
    example(
        ask = "When is Easter?",
        input = r#"{"operation":"format","date":"Easter","format":"%A, %-d %B %Y"}"#
    ),
    example(
        ask = "What date is next Monday?",
        ask = "When is next Monday?",
        ask = "What is the date next Monday?",
        input = r#"{"operation":"format","date":"next Monday","format":"%A, %-d %B %Y"}"#
    ),
    example(
        ask = "What date was last Monday?",
        ask = "When was last Monday?",
        ask = "What was the date last Monday?",
        input = r#"{"operation":"format","date":"last Monday","format":"%A, %-d %B %Y"}"#
    ),
    example(
        ask = "What date is next Tuesday?",
        input = r#"{"operation":"format","date":"next Tuesday","format":"%A, %-d %B %Y"}"#
    ),
    example(
        ask = "What date was last Tuesday?",
        input = r#"{"operation":"format","date":"last Tuesday","format":"%A, %-d %B %Y"}"#
    ),
    example(
        ask = "What date is next Wednesday?",
        input = r#"{"operation":"format","date":"next Wednesday","format":"%A, %-d %B %Y"}"#
    ),
    example(
        ask = "What date was last Wednesday?",
        input = r#"{"operation":"format","date":"last Wednesday","format":"%A, %-d %B %Y"}"#
    ),
    example(
        ask = "What date is next Thursday?",
        input = r#"{"operation":"format","date":"next Thursday","format":"%A, %-d %B %Y"}"#
    ),
    example(
        ask = "What date was last Thursday?",
        input = r#"{"operation":"format","date":"last Thursday","format":"%A, %-d %B %Y"}"#
    ),
    example(
        ask = "What date is next Friday?",
        input = r#"{"operation":"format","date":"next Friday","format":"%A, %-d %B %Y"}"#
    ),
    example(
        ask = "What date was last Friday?",
        input = r#"{"operation":"format","date":"last Friday","format":"%A, %-d %B %Y"}"#
    ),
    example(
        ask = "What date is next Saturday?",
        input = r#"{"operation":"format","date":"next Saturday","format":"%A, %-d %B %Y"}"#
    ),
    example(
        ask = "What date was last Saturday?",
        input = r#"{"operation":"format","date":"last Saturday","format":"%A, %-d %B %Y"}"#
    ),
    example(
        ask = "What date is next Sunday?",
        input = r#"{"operation":"format","date":"next Sunday","format":"%A, %-d %B %Y"}"#
    ),
    example(
        ask = "What date was last Sunday?",
        input = r#"{"operation":"format","date":"last Sunday","format":"%A, %-d %B %Y"}"#
    ),
    example(
        ask = "What date was it a fortnight ago?",
        ask = "What was the date a fortnight ago?",
        ask = "a fortnight ago",
        input = r#"{"operation":"subtract","date":"today","amount":2,"unit":"weeks"}"#
    ),
    example(
        ask = "What date is a week from today?",
        ask = "What date is it in a week?",
        input = r#"{"operation":"add","date":"today","amount":1,"unit":"weeks"}"#
    ),
    example(
        ask = "What time is it when it is 3 pm on 12 March 2027 in Tokyo in London?",
        ask = "What is 3 pm on 12 March 2027 in Tokyo in London time?",
        ask = "When it is 3 pm on 12 March 2027 in Tokyo, what time is it in London?",
        ask = "Convert 3 pm on 12 March 2027 from Tokyo to London",
        ask = "3 pm on 12 March 2027 in Tokyo is what time in London?",
        input = r#"{"operation":"convert","date":"12 March 2027","time":"3 pm","from_zone":"Tokyo","to_zone":"London"}"#,
        output = r#"{"result":"06:00 on Friday, 12 March 2027 (Europe/London)"}"#
    ),
    example(
        ask = "What date is 30 days before Christmas 2027?",
        input = r#"{"operation":"subtract","date":"Christmas","amount":30,"unit":"days","year":2027}"#,
        output = r#"{"result":"Thursday, 25 November 2027"}"#
    ),
    example(
        ask = "What time is it in Paris?",
        input = r#"{"operation":"now","to_zone":"Paris"}"#
    ),
    example(
        ask = "What time is it in Los Angeles?",
        input = r#"{"operation":"now","to_zone":"Los Angeles"}"#
    ),
    example(
        ask = "What time is it in Mumbai?",
        input = r#"{"operation":"now","to_zone":"Mumbai"}"#
    ),
    example(
        ask = "What time is it in Singapore?",
        input = r#"{"operation":"now","to_zone":"Singapore"}"#
    ),
    example(
        ask = "What time is it in India?",
        input = r#"{"operation":"now","to_zone":"India"}"#
    ),
    example(
        ask = "What time is it in Japan?",
        input = r#"{"operation":"now","to_zone":"Japan"}"#
    ),
    example(
        ask = "What weekday was 20 July 1969?",
        ask = "What day of the week did 20 July 1969 fall on?",
        ask = "20 July 1969, which weekday?",
        ask = "What day of the week was my birthday, 20 July 1969?",
        ask = "What day of the week was my wedding, 20 July 1969?",
        ask = "Day of the week for 20 July 1969",
        ask = "Weekday for 20 July 1969",
        input = r#"{"operation":"weekday","date":"20 July 1969"}"#
    ),
    example(
        ask = "What day of the week is Christmas Day 2027?",
        input = r#"{"operation":"weekday","date":"Christmas Day","year":2027}"#
    ),
    example(
        ask = "Which quarter does 2026-11-21 belong to?",
        ask = "Which quarter does 2026-11-21 fall into?",
        ask = "Which quarter does 2026-11-21 fall in?",
        ask = "Quarter of 2026-11-21",
        input = r#"{"operation":"quarter","date":"2026-11-21"}"#
    ),
    example(
        ask = "Week number of 2026-11-21",
        ask = "ISO week number of 2026-11-21",
        ask = "ISO week of 2026-11-21",
        ask = "Calendar week of 2026-11-21",
        input = r#"{"operation":"week_number","date":"2026-11-21"}"#
    ),
    example(
        ask = "2026-11-21 is which day of the year?",
        ask = "Day of the year of 2026-11-21",
        input = r#"{"operation":"day_of_year","date":"2026-11-21"}"#
    ),
    example(
        ask = "Put 21 November 2026 in ISO format",
        ask = "Convert 21 November 2026 to ISO format",
        ask = "21 November 2026 in ISO format",
        ask = "21 November 2026 written in ISO format",
        input = r#"{"operation":"parse","date":"21 November 2026"}"#
    ),
    example(
        ask = "What date is the Unix timestamp 1709028000 in UTC?",
        ask = "Unix timestamp 1709028000 as a date",
        input = r#"{"operation":"parse","date":"1709028000"}"#
    ),
    example(
        ask = "Write 2026-11-21 out in full",
        ask = "Write 2026-11-21 in words",
        ask = "Write 2026-11-21 with the weekday",
        input = r#"{"operation":"format","date":"2026-11-21","format":"%A, %-d %B %Y"}"#
    ),
    example(
        ask = "When is Easter Sunday 2027?",
        input = r#"{"operation":"format","date":"Easter Sunday","year":2027,"format":"%A, %-d %B %Y"}"#
    ),
    example(
        ask = "Is the year 2028 a leap year?",
        ask = "2028 leap year?",
        input = r#"{"operation":"leap_year","year":2028}"#
    ),
    example(
        ask = "Years from 1969-07-20 to 2019-07-20",
        ask = "How many years passed from 1969-07-20 to 2019-07-20?",
        ask = "How many years from 1969-07-20 to 2019-07-20?",
        input = r#"{"operation":"difference","start":"1969-07-20","end":"2019-07-20","unit":"years"}"#
    ),
    example(
        ask = "Count the days from 2024-02-27 to 2026-11-21",
        ask = "How many days passed between 2024-02-27 and 2026-11-21?",
        ask = "Days between 2024-02-27 and 2026-11-21",
        ask = "Days from 2024-02-27 until 2026-11-21",
        ask = "Days from 2024-02-27 till 2026-11-21",
        input = r#"{"operation":"difference","start":"2024-02-27","end":"2026-11-21","unit":"days"}"#
    ),
    example(
        ask = "Weeks from 1 March 2026 to 24 December 2026",
        ask = "Weeks between 1 March 2026 and 24 December 2026",
        input = r#"{"operation":"difference","start":"1 March 2026","end":"24 December 2026","unit":"weeks"}"#
    ),
    example(
        ask = "Working days between 2026-03-02 and 2026-03-31",
        ask = "Working days from 2026-03-02 till 2026-03-31",
        ask = "Business days from 2026-03-02 to 2026-03-31",
        input = r#"{"operation":"difference","start":"2026-03-02","end":"2026-03-31","unit":"working_days"}"#
    ),
    example(
        ask = "How many minutes was it from 6:50 until 8:05?",
        ask = "Minutes from 6:50 to 8:05",
        ask = "Minutes between 6:50 and 8:05",
        input = r#"{"operation":"difference","start":"6:50","end":"8:05","unit":"minutes"}"#
    ),
    example(
        ask = "What is Nairobi's local time?",
        ask = "Nairobi's local time",
        ask = "What is the local time in Nairobi?",
        ask = "What is the local time in Nairobi right now?",
        ask = "What time is it in Nairobi right now?",
        input = r#"{"operation":"now","to_zone":"Nairobi"}"#
    ),
    example(
        ask = "Convert 3 pm New York time on 10 July 2025 to London time",
        ask = "What time is it in London when it is 3 pm in New York on 10 July 2025?",
        ask = "It is 3 pm in New York on 10 July 2025, what is the local time in London?",
        input = r#"{"operation":"convert","date":"10 July 2025","time":"3 pm","from_zone":"New York","to_zone":"London"}"#
    ),
    example(
        ask = "If it is 09:30 in Tokyo on 5 January 2026, what time is it in London?",
        input = r#"{"operation":"convert","date":"5 January 2026","time":"09:30","from_zone":"Tokyo","to_zone":"London"}"#
    ),
    example(
        ask = "What day comes 100 days before Christmas 2025?",
        ask = "Which date is 100 days before Christmas 2025?",
        input = r#"{"operation":"subtract","date":"Christmas","amount":100,"unit":"days","year":2025}"#
    ),
    example(
        ask = "10 business days from 2026-03-02",
        ask = "It takes 10 business days from 2026-03-02. Which date is that?",
        ask = "What date is 10 business days from 2026-03-02?",
        input = r#"{"operation":"add","date":"2026-03-02","amount":10,"unit":"working_days"}"#
    ),
    example(
        ask = "30 days from 2026-01-31",
        ask = "What is the date 30 days from 2026-01-31?",
        ask = "30 days from 2026-01-31, what date is that?",
        ask = "What will the date be 30 days from 2026-01-31?",
        input = r#"{"operation":"add","date":"2026-01-31","amount":30,"unit":"days"}"#
    ),
    limits(fuel = 200_000_000, memory = "32 MiB", timeout = "5s")
)]
fn datetime(input: DatetimeInput) -> Result<DatetimeOutput> {
    operations::run(&input, &now).map_err(ToolError::validation)
}

/// Reads the clock of the host.
fn now() -> Result<Timestamp, DateError> {
    Timestamp::try_from(SystemTime::now()).map_err(DateError::OutOfRange)
}
