//! `unit_convert`: converts a value from one unit of measurement to another.

use art_sdk::prelude::*;

mod convert;
mod dimension;
mod error;
mod io;
mod lookup;
mod parse;
mod tokens;
mod units;

#[cfg(test)]
mod tests;

use io::{UnitConvertInput, UnitConvertOutput};

/// Converts a value from one unit of measurement to another: length and distance (miles to kilometres, feet to metres),
/// weight and mass (pounds to kilograms), temperature (Fahrenheit to Celsius), speed (mph to km/h), area, volume
/// (gallons, cups to litres), time, pressure, energy, power, force, data size (megabytes, gigabits), angle, frequency and
/// fuel economy (mpg to L/100 km). Use it for how many of one unit make another, or to convert or express a quantity in
/// other units. Returns the converted number.
// The lexical model of the host, which finds calls without a language model, learns from the questions in `ask` how people ask.
// It replaces the number and the units in a question by slots, which other numbers and units can fill. So a question about 23 kg
// teaches it words that people use around any quantity, even if the question makes no sense, such as "It is 23 kg tall".
#[tool(
    example(
        ask = "How many pounds is 80 kg?",
        ask = "80 kg in pounds",
        ask = "I weigh 80 kg. How many pounds is that?",
        ask = "I weigh 80 kg, how much is that in pounds?",
        ask = "My suitcase weighs 80 kg. What's that in pounds?",
        ask = "My bag weighs 80 kg, how many pounds is that?",
        ask = "I need 80 kg of flour in pounds",
        ask = "80 kg of flour in pounds",
        ask = "Give me 80 kg in pounds",
        ask = "Express 80 kg in pounds",
        ask = "What would 80 kg be in pounds?",
        ask = "How much is 80 kg in pounds?",
        ask = "Turn 80 kg into pounds",
        ask = "Change 80 kg into pounds",
        ask = "80 kg is how many pounds?",
        ask = "80 kg equals how many pounds?",
        ask = "If something weighs 80 kg, how much is that in pounds?",
        input = r#"{"value":80,"from":"kg","to":"pounds"}"#
    ),
    example(
        ask = "I have a tank of 60 litres, how many gallons is that?",
        ask = "My tank holds 60 litres. How many gallons is that?",
        ask = "A bottle of 60 litres is how many gallons?",
        ask = "The recipe says 60 litres. What is that in gallons?",
        ask = "How many gallons make up 60 litres?",
        input = r#"{"value":60,"from":"litres","to":"gallons"}"#
    ),
    example(
        ask = "My oven is at 220 degrees celsius, what's that in fahrenheit?",
        ask = "The oven is at 220 degrees celsius. What is that in fahrenheit?",
        ask = "It is 220 degrees celsius outside. How much is that in fahrenheit?",
        ask = "Bake at 220 degrees celsius, what is that in fahrenheit?",
        ask = "The recipe says 220 degrees celsius, what is that in fahrenheit?",
        input = r#"{"value":220,"from":"degrees celsius","to":"fahrenheit"}"#
    ),
    example(
        ask = "How far is 10 km in miles?",
        ask = "I ran 10 km. How many miles is that?",
        ask = "I walked 10 km, how far is that in miles?",
        ask = "The trip is 10 km long. How many miles is that?",
        ask = "How far is a run of 10 km in miles?",
        ask = "The distance is 10 km, what's that in miles?",
        input = r#"{"value":10,"from":"km","to":"miles"}"#
    ),
    example(
        ask = "How long is 30 m in yards?",
        ask = "The rope is 30 m long. What is that in yards?",
        ask = "A room is 30 m long, how many yards is that?",
        ask = "It is 30 m tall, how many yards is that?",
        input = r#"{"value":30,"from":"m","to":"yards"}"#
    ),
    example(
        ask = "Change 2 hours into seconds",
        ask = "How many seconds are there in 2 hours?",
        ask = "How many seconds in 2 hours?",
        ask = "2 hours in seconds",
        input = r#"{"value":2,"from":"hours","to":"seconds"}"#
    ),
    example(
        ask = "Tablespoons in a cup?",
        ask = "How many tablespoons are in a cup?",
        ask = "How many tablespoons make a cup?",
        ask = "How many tablespoons in a cup?",
        input = r#"{"value":1,"from":"cup","to":"tablespoons"}"#
    ),
    example(
        ask = "5 ft 9 in in cm",
        ask = "5 ft 9 in to cm",
        ask = "What is 5 ft 9 in in cm?",
        ask = "What's 5 ft 9 in in cm?",
        ask = "Give me 5 ft 9 in in cm",
        ask = "How tall is 5 ft 9 in in cm?",
        ask = "I am 5 ft 9 in tall, how many cm is that?",
        ask = "Convert 5 ft 9 in to cm",
        ask = "How many cm is 5 ft 9 in?",
        ask = "5 ft 9 in is how many cm?",
        input = r#"{"value":5,"from":"ft","to":"cm","extra_value":9,"extra_unit":"in"}"#
    ),
    example(
        ask = "How many kilograms are 5 pounds?",
        ask = "Convert 5 pounds to kilograms",
        ask = "What is 5 pounds in kilograms?",
        ask = "5 pounds in kilograms",
        ask = "5 pounds to kilograms",
        ask = "How much is 5 pounds in kilograms?",
        ask = "How many kilograms is 5 pounds?",
        input = r#"{"value":5,"from":"pounds","to":"kilograms"}"#,
        output = r#"{"result":2.26796185}"#
    ),
    example(
        ask = "How many kilometres are there in 26 miles?",
        ask = "How far is 26 miles in kilometres?",
        ask = "Change 26 miles into kilometres",
        ask = "Convert 26 from miles to kilometres",
        ask = "Turn 26 miles into kilometres",
        input = r#"{"value":26,"from":"miles","to":"kilometres"}"#,
        output = r#"{"result":41.842944}"#
    ),
    example(
        ask = "Convert 98.6 degrees Fahrenheit to Celsius",
        ask = "What is 98.6 degrees Fahrenheit in Celsius?",
        ask = "How hot is 98.6 degrees Fahrenheit in Celsius?",
        input = r#"{"value":98.6,"from":"degrees Fahrenheit","to":"Celsius"}"#,
        output = r#"{"result":37}"#
    ),
    example(
        ask = "What is 20 °C in °F?",
        ask = "20 °C to °F",
        input = r#"{"value":20,"from":"°C","to":"°F"}"#
    ),
    example(
        ask = "How fast is 72 miles per hour in metres per second?",
        ask = "Convert 72 miles per hour to metres per second",
        input = r#"{"value":72,"from":"miles per hour","to":"metres per second"}"#,
        output = r#"{"result":32.18688}"#
    ),
    example(
        ask = "What is 120 km/h in mph?",
        input = r#"{"value":120,"from":"km/h","to":"mph"}"#
    ),
    example(
        ask = "Convert 30 mpg to L/100km",
        input = r#"{"value":30,"from":"mpg","to":"L/100km"}"#,
        output = r#"{"result":7.84048611111111,"note":"mile per gallon (US), not imperial"}"#
    ),
    example(
        ask = "How many seconds are in a day?",
        ask = "How many seconds are there in a day?",
        ask = "How many seconds does a day have?",
        ask = "How many seconds are in one day?",
        input = r#"{"value":1,"from":"day","to":"seconds"}"#,
        output = r#"{"result":86400}"#
    ),
    example(
        ask = "How many minutes are in an hour?",
        ask = "How many minutes in an hour?",
        ask = "How many minutes make an hour?",
        ask = "Minutes in an hour",
        input = r#"{"value":1,"from":"hour","to":"minutes"}"#,
        output = r#"{"result":60}"#
    ),
    example(
        ask = "How many grams are in a kilogram?",
        ask = "How many grams in a kilogram?",
        ask = "What is a kilogram in grams?",
        input = r#"{"value":1,"from":"kilogram","to":"grams"}"#
    ),
    example(
        ask = "How many hours are in 3 days?",
        ask = "How many hours in 3 days?",
        input = r#"{"value":3,"from":"days","to":"hours"}"#
    ),
    example(
        ask = "How long is 90 minutes in hours?",
        ask = "Express 90 minutes in hours",
        input = r#"{"value":90,"from":"minutes","to":"hours"}"#
    ),
    example(
        ask = "How tall is 180 cm in feet?",
        ask = "180 cm in feet",
        input = r#"{"value":180,"from":"cm","to":"feet"}"#
    ),
    example(
        ask = "How heavy is 70 kg in pounds?",
        ask = "How much does 70 kg weigh in pounds?",
        input = r#"{"value":70,"from":"kg","to":"pounds"}"#
    ),
    example(
        ask = "How many cups are 500 ml?",
        ask = "How many cups is 500 ml?",
        input = r#"{"value":500,"from":"ml","to":"cups"}"#
    ),
    example(
        ask = "How many litres are in 10 gallons?",
        input = r#"{"value":10,"from":"gallons","to":"litres"}"#
    ),
    example(
        ask = "How many square feet are 2 acres?",
        ask = "How big is 2 acres in square feet?",
        input = r#"{"value":2,"from":"acres","to":"square feet"}"#
    ),
    example(
        ask = "How many megabytes are 3 gigabytes?",
        ask = "How large is 3 gigabytes in megabytes?",
        input = r#"{"value":3,"from":"gigabytes","to":"megabytes"}"#
    ),
    example(
        ask = "Convert 2.5 atmospheres to pascals",
        ask = "Express 2.5 atmospheres in pascals",
        input = r#"{"value":2.5,"from":"atmospheres","to":"pascals"}"#
    ),
    example(
        ask = "How many kilojoules are 200 kilocalories?",
        input = r#"{"value":200,"from":"kilocalories","to":"kilojoules"}"#
    ),
    example(
        ask = "Convert 100 horsepower to kilowatts",
        input = r#"{"value":100,"from":"horsepower","to":"kilowatts"}"#
    ),
    example(
        ask = "What is 180 degrees in radians?",
        input = r#"{"value":180,"from":"degrees","to":"radians"}"#
    ),
    example(
        ask = "10 km in miles",
        ask = "Convert 10 km to miles",
        ask = "How many miles are 10 km?",
        input = r#"{"value":10,"from":"km","to":"miles"}"#
    ),
    example(
        ask = "12 inches in cm",
        ask = "How many cm are 12 inches?",
        input = r#"{"value":12,"from":"inches","to":"cm"}"#
    ),
    example(
        ask = "How many yards are 100 metres?",
        input = r#"{"value":100,"from":"metres","to":"yards"}"#
    ),
    example(
        ask = "How many millimetres are 3 centimetres?",
        input = r#"{"value":3,"from":"centimetres","to":"millimetres"}"#
    ),
    example(
        ask = "How many ounces are 2 pounds?",
        ask = "How many ounces are there in 2 pounds?",
        input = r#"{"value":2,"from":"pounds","to":"ounces"}"#
    ),
    example(
        ask = "200 lbs in kg",
        ask = "What is 200 lbs in kg?",
        input = r#"{"value":200,"from":"lbs","to":"kg"}"#
    ),
    example(ask = "How many grams are 4 oz?", input = r#"{"value":4,"from":"oz","to":"grams"}"#),
    example(
        ask = "How many tonnes are 5000 kilograms?",
        input = r#"{"value":5000,"from":"kilograms","to":"tonnes"}"#
    ),
    example(
        ask = "How many feet are in a mile?",
        input = r#"{"value":1,"from":"mile","to":"feet"}"#
    ),
    example(
        ask = "How many inches are in a foot?",
        input = r#"{"value":1,"from":"foot","to":"inches"}"#
    ),
    example(
        ask = "How many teaspoons are 2 tablespoons?",
        input = r#"{"value":2,"from":"tablespoons","to":"teaspoons"}"#
    ),
    example(
        ask = "How many pints are 3 litres?",
        input = r#"{"value":3,"from":"litres","to":"pints"}"#
    ),
    example(
        ask = "How many quarts are in a gallon?",
        input = r#"{"value":1,"from":"gallon","to":"quarts"}"#
    ),
    example(
        ask = "How many hours are in a week?",
        input = r#"{"value":1,"from":"week","to":"hours"}"#
    ),
    example(
        ask = "How many weeks are in a year?",
        input = r#"{"value":1,"from":"year","to":"weeks"}"#
    ),
    example(
        ask = "How many months are in 2 years?",
        input = r#"{"value":2,"from":"years","to":"months"}"#
    ),
    example(
        ask = "What is 25 celsius in fahrenheit?",
        ask = "25 celsius to fahrenheit",
        input = r#"{"value":25,"from":"celsius","to":"fahrenheit"}"#
    ),
    example(
        ask = "What is 300 kelvin in celsius?",
        input = r#"{"value":300,"from":"kelvin","to":"celsius"}"#
    ),
    example(
        ask = "How many hectares are 10 acres?",
        input = r#"{"value":10,"from":"acres","to":"hectares"}"#
    ),
    example(
        ask = "How many kilowatt hours are 5 megajoules?",
        input = r#"{"value":5,"from":"megajoules","to":"kilowatt hours"}"#
    ),
    example(ask = "What is 2 bar in psi?", input = r#"{"value":2,"from":"bar","to":"psi"}"#),
    example(
        ask = "What is 20 knots in km/h?",
        input = r#"{"value":20,"from":"knots","to":"km/h"}"#
    ),
    example(
        ask = "How many gigabytes are 2 terabytes?",
        input = r#"{"value":2,"from":"terabytes","to":"gigabytes"}"#
    ),
    example(
        ask = "How many bits are in a byte?",
        input = r#"{"value":1,"from":"byte","to":"bits"}"#
    ),
    example(
        ask = "How many cm is 5 feet 11 inches?",
        ask = "What is 5 feet 11 inches in cm?",
        ask = "5 feet 11 inches in cm",
        ask = "Convert 5 feet 11 inches to cm",
        ask = "How tall is 5 feet 11 inches in cm?",
        ask = "How tall is 5 feet and 11 inches in cm?",
        input = r#"{"value":5,"from":"feet","extra_value":11,"extra_unit":"inches","to":"cm"}"#,
        output = r#"{"result":180.34}"#
    ),
    example(
        ask = "What is 6 ft 2 in in metres?",
        input = r#"{"value":6,"from":"ft","extra_value":2,"extra_unit":"in","to":"metres"}"#
    ),
    example(
        ask = "How many kg is 10 pounds 8 ounces?",
        ask = "What is 10 pounds and 8 ounces in kg?",
        input = r#"{"value":10,"from":"pounds","extra_value":8,"extra_unit":"ounces","to":"kg"}"#
    ),
    example(
        ask = "How many minutes is 2 hours 15 minutes?",
        input = r#"{"value":2,"from":"hours","extra_value":15,"extra_unit":"minutes","to":"minutes"}"#,
        output = r#"{"result":135}"#
    ),
    example(
        ask = "What is 11 stone 4 pounds in kilos?",
        input = r#"{"value":11,"from":"stone","extra_value":4,"extra_unit":"pounds","to":"kilos"}"#
    ),
    example(
        ask = "How tall is 180 cm in feet and inches?",
        ask = "What is 180 cm in feet and inches?",
        ask = "180 cm to feet and inches",
        input = r#"{"value":180,"from":"cm","to":"feet and inches"}"#,
        output = r#"{"result":"5 feet 10.87 inches"}"#
    ),
    example(
        ask = "What is 70 kg in stone and pounds?",
        input = r#"{"value":70,"from":"kg","to":"stone and pounds"}"#
    ),
    example(
        ask = "What is 3 kg in pounds and ounces?",
        input = r#"{"value":3,"from":"kg","to":"pounds and ounces"}"#
    ),
    example(
        ask = "How long is 135 minutes in hours and minutes?",
        input = r#"{"value":135,"from":"minutes","to":"hours and minutes"}"#,
        output = r#"{"result":"2 hours 15 minutes"}"#
    ),
    example(
        ask = "How many metres is half a mile?",
        ask = "How many metres are in half a mile?",
        ask = "What is half a mile in metres?",
        input = r#"{"value":0.5,"from":"mile","to":"metres"}"#,
        output = r#"{"result":804.672}"#
    ),
    example(
        ask = "How many minutes are in half an hour?",
        input = r#"{"value":0.5,"from":"hour","to":"minutes"}"#,
        output = r#"{"result":30}"#
    ),
    example(
        ask = "How many metres are in a quarter of a mile?",
        input = r#"{"value":0.25,"from":"mile","to":"metres"}"#,
        output = r#"{"result":402.336}"#
    ),
    example(
        ask = "How many kgs are 11 stone?",
        ask = "What is 11 stone in kgs?",
        input = r#"{"value":11,"from":"stone","to":"kgs"}"#
    ),
    example(
        ask = "How many kilos are 150 lbs?",
        ask = "150 lbs in kilos",
        input = r#"{"value":150,"from":"lbs","to":"kilos"}"#
    ),
    example(
        ask = "What is 20 c in f?",
        ask = "20 c to f",
        input = r#"{"value":20,"from":"c","to":"f"}"#,
        output = r#"{"result":68}"#
    ),
    example(
        ask = "What is 350 degrees f in degrees c?",
        ask = "350 degrees f to degrees c",
        input = r#"{"value":350,"from":"degrees f","to":"degrees c"}"#
    ),
    example(ask = "What is 100 kph in mph?", input = r#"{"value":100,"from":"kph","to":"mph"}"#),
    example(
        ask = "What is 100 km per hour in miles per hour?",
        ask = "How fast is 100 km per hour in miles per hour?",
        input = r#"{"value":100,"from":"km per hour","to":"miles per hour"}"#
    ),
    example(
        ask = "How many sq ft are 50 square metres?",
        ask = "How big is 50 square metres in sq ft?",
        input = r#"{"value":50,"from":"square metres","to":"sq ft"}"#
    ),
    example(
        ask = "How many sqm are 800 square feet?",
        input = r#"{"value":800,"from":"square feet","to":"sqm"}"#
    ),
    example(
        ask = "How many litres are 3 cubic feet?",
        input = r#"{"value":3,"from":"cubic feet","to":"litres"}"#
    ),
    example(
        ask = "How many ml are 12 fl oz?",
        input = r#"{"value":12,"from":"fl oz","to":"ml"}"#
    ),
    example(
        ask = "How many tsp are in a tbsp?",
        input = r#"{"value":1,"from":"tbsp","to":"tsp"}"#
    ),
    example(
        ask = "How many GB are 500 MB?",
        input = r#"{"value":500,"from":"MB","to":"GB"}"#,
        output = r#"{"result":0.5}"#
    ),
    example(
        ask = "How many MiB are 2 GiB?",
        input = r#"{"value":2,"from":"GiB","to":"MiB"}"#,
        output = r#"{"result":2048}"#
    ),
    example(
        ask = "How many kJ are 3 kWh?",
        input = r#"{"value":3,"from":"kWh","to":"kJ"}"#,
        output = r#"{"result":10800}"#
    ),
    example(
        ask = "How many joules are 50 cal?",
        input = r#"{"value":50,"from":"cal","to":"joules"}"#
    ),
    example(
        ask = "What is 32 psi in bar?",
        ask = "How much is 32 psi in bar?",
        input = r#"{"value":32,"from":"psi","to":"bar"}"#
    ),
    example(
        ask = "What is 6 l/100km in mpg?",
        input = r#"{"value":6,"from":"l/100km","to":"mpg"}"#
    ),
    example(
        ask = "How many seconds are in a minute?",
        input = r#"{"value":1,"from":"minute","to":"seconds"}"#,
        output = r#"{"result":60}"#
    ),
    example(
        ask = "How many days are in a fortnight?",
        input = r#"{"value":1,"from":"fortnight","to":"days"}"#,
        output = r#"{"result":14}"#
    ),
    example(
        ask = "How many years are in a century?",
        input = r#"{"value":1,"from":"century","to":"years"}"#,
        output = r#"{"result":100}"#
    ),
    example(
        ask = "How many metres are in a kilometer?",
        input = r#"{"value":1,"from":"kilometer","to":"metres"}"#,
        output = r#"{"result":1000}"#
    ),
    example(
        ask = "How many milliliters are 2 liters?",
        input = r#"{"value":2,"from":"liters","to":"milliliters"}"#,
        output = r#"{"result":2000}"#
    ),
    example(
        ask = "How many kilometers are 5 nautical miles?",
        input = r#"{"value":5,"from":"nautical miles","to":"kilometers"}"#
    ),
    example(
        ask = "What is 23 kg in pounds?",
        ask = "23 kg into pounds",
        ask = "23 kg as pounds",
        ask = "23 kg expressed in pounds",
        ask = "23 kg written in pounds",
        ask = "What is 23 kg expressed in pounds?",
        ask = "23 kg is how many pounds?",
        ask = "23 kg equals how many pounds?",
        ask = "23 kg makes how many pounds?",
        ask = "23 kg, how many pounds?",
        ask = "23 kg, what is that in pounds?",
        ask = "23 kg, how much is that in pounds?",
        ask = "23 kg, how many pounds is that?",
        ask = "23 kg - how much is that in pounds?",
        ask = "23 kg = ? pounds",
        ask = "23 kg -> pounds",
        ask = "Give 23 kg in pounds",
        ask = "Give me 23 kg as pounds",
        ask = "Put 23 kg into pounds",
        ask = "Change 23 kg into pounds",
        ask = "Change 23 kg to pounds",
        ask = "Switch 23 kg to pounds",
        ask = "Translate 23 kg to pounds",
        ask = "Express 23 kg in pounds",
        ask = "Calculate 23 kg in pounds",
        ask = "Pounds in 23 kg",
        ask = "Pounds for 23 kg",
        ask = "Number of pounds in 23 kg",
        ask = "How many pounds in 23 kg?",
        ask = "How many pounds make 23 kg?",
        ask = "How many pounds make up 23 kg?",
        ask = "How many pounds does 23 kg make?",
        ask = "How many pounds does 23 kg equal?",
        ask = "How many pounds does 23 kg contain?",
        ask = "How many pounds does 23 kg hold?",
        ask = "How many pounds does 23 kg come to?",
        ask = "How many pounds would 23 kg be?",
        ask = "What would 23 kg be in pounds?",
        ask = "What does 23 kg come to in pounds?",
        ask = "How much would 23 kg be in pounds?",
        ask = "How much is 23 kg in pounds? I need it",
        ask = "23 kg of it in pounds",
        ask = "Convert 23 kg to pounds quickly",
        ask = "Convert 23 kg to pounds for my homework",
        ask = "Could you kindly convert 23 kg to pounds",
        ask = "Convert from 23 kg to pounds",
        ask = "Convert 23 kg to pounds, would you",
        ask = "Convert 23 kg to pounds, thx",
        ask = "Convert 23 kg to pounds, thank you",
        ask = "Convert exactly 23 kg to pounds",
        ask = "Convert about 23 kg to pounds",
        ask = "What is the equivalent of 23 kg in pounds?",
        ask = "What is the weight in pounds of 23 kg?",
        ask = "What is the length in pounds of 23 kg?",
        ask = "What is the size in pounds of 23 kg?",
        ask = "What is the area in pounds of 23 kg?",
        ask = "What is the speed in pounds of 23 kg?",
        ask = "Give its weight in pounds: 23 kg",
        ask = "It weighs 23 kg. How many pounds is that?",
        ask = "It weighs 23 kg. Give its weight in pounds.",
        ask = "It is 23 kg long, how long is that in pounds?",
        ask = "It is 23 kg tall, how tall is that in pounds?",
        ask = "It is 23 kg wide, how wide is that in pounds?",
        ask = "It is 23 kg high, how high is that in pounds?",
        ask = "It is 23 kg deep, how deep is that in pounds?",
        ask = "It is 23 kg away, how far is that in pounds?",
        ask = "It is 23 kg, how fast is that in pounds?",
        ask = "It is 23 kg, how hot is that in pounds?",
        ask = "If it is 23 kg, how heavy is that in pounds?",
        ask = "23 kg of pressure in pounds",
        ask = "Convert an angle of 23 kg to pounds",
        ask = "Convert a temperature of 23 kg to pounds",
        ask = "Convert a distance of 23 kg to pounds",
        ask = "Convert a speed of 23 kg to pounds",
        ask = "Convert a weight of 23 kg to pounds",
        ask = "Convert a volume of 23 kg to pounds",
        ask = "Convert an area of 23 kg to pounds",
        ask = "Convert a length of 23 kg to pounds",
        ask = "Convert a size of 23 kg to pounds",
        ask = "Convert a height of 23 kg to pounds",
        ask = "Convert a depth of 23 kg to pounds",
        ask = "How much is a suitcase of 23 kg in pounds?",
        ask = "How much is a box of 23 kg in pounds?",
        ask = "How much is a bag of 23 kg in pounds?",
        ask = "How much is a parcel of 23 kg in pounds?",
        ask = "How much is a package of 23 kg in pounds?",
        ask = "How much is a dog of 23 kg in pounds?",
        ask = "How much is a cat of 23 kg in pounds?",
        ask = "How much is a baby of 23 kg in pounds?",
        ask = "How much is a car of 23 kg in pounds?",
        ask = "How much is a truck of 23 kg in pounds?",
        ask = "How much is a train of 23 kg in pounds?",
        ask = "How much is a boat of 23 kg in pounds?",
        ask = "How much is a ship of 23 kg in pounds?",
        ask = "How much is a plane of 23 kg in pounds?",
        ask = "How much is a mountain of 23 kg in pounds?",
        ask = "How much is a building of 23 kg in pounds?",
        ask = "How much is a tower of 23 kg in pounds?",
        ask = "How much is a house of 23 kg in pounds?",
        ask = "How much is a flat of 23 kg in pounds?",
        ask = "How much is a apartment of 23 kg in pounds?",
        ask = "How much is a room of 23 kg in pounds?",
        ask = "How much is a garden of 23 kg in pounds?",
        ask = "How much is a field of 23 kg in pounds?",
        ask = "How much is a park of 23 kg in pounds?",
        ask = "How much is a pool of 23 kg in pounds?",
        ask = "How much is a tank of 23 kg in pounds?",
        ask = "How much is a bottle of 23 kg in pounds?",
        ask = "How much is a can of 23 kg in pounds?",
        ask = "How much is a jug of 23 kg in pounds?",
        ask = "How much is a bucket of 23 kg in pounds?",
        ask = "How much is a glass of 23 kg in pounds?",
        ask = "How much is a pan of 23 kg in pounds?",
        ask = "How much is a oven of 23 kg in pounds?",
        ask = "How much is a recipe of 23 kg in pounds?",
        ask = "How much is a cake of 23 kg in pounds?",
        ask = "How much is a flour of 23 kg in pounds?",
        ask = "How much is a sugar of 23 kg in pounds?",
        ask = "How much is a milk of 23 kg in pounds?",
        ask = "How much is a water of 23 kg in pounds?",
        ask = "How much is a rice of 23 kg in pounds?",
        ask = "How much is a snack of 23 kg in pounds?",
        ask = "How much is a meal of 23 kg in pounds?",
        ask = "How much is a engine of 23 kg in pounds?",
        ask = "How much is a motor of 23 kg in pounds?",
        ask = "How much is a battery of 23 kg in pounds?",
        ask = "How much is a file of 23 kg in pounds?",
        ask = "How much is a download of 23 kg in pounds?",
        ask = "How much is a video of 23 kg in pounds?",
        ask = "How much is a movie of 23 kg in pounds?",
        ask = "How much is a phone of 23 kg in pounds?",
        ask = "How much is a laptop of 23 kg in pounds?",
        ask = "How much is a hike of 23 kg in pounds?",
        ask = "How much is a race of 23 kg in pounds?",
        ask = "How much is a run of 23 kg in pounds?",
        ask = "How much is a trail of 23 kg in pounds?",
        ask = "How much is a road of 23 kg in pounds?",
        ask = "How much is a bridge of 23 kg in pounds?",
        ask = "How much is a river of 23 kg in pounds?",
        ask = "How much is a desk of 23 kg in pounds?",
        ask = "How much is a table of 23 kg in pounds?",
        ask = "How much is a door of 23 kg in pounds?",
        ask = "How much is a person of 23 kg in pounds?",
        ask = "How much is a man of 23 kg in pounds?",
        ask = "How much is a woman of 23 kg in pounds?",
        ask = "How much is a child of 23 kg in pounds?",
        ask = "How much is a friend of 23 kg in pounds?",
        ask = "How much is a athlete of 23 kg in pounds?",
        ask = "How much is a trip of 23 kg in pounds?",
        ask = "How much is a flight of 23 kg in pounds?",
        ask = "How much is a fish of 23 kg in pounds?",
        ask = "How much is a horse of 23 kg in pounds?",
        ask = "How much is a tree of 23 kg in pounds?",
        ask = "How much is a wire of 23 kg in pounds?",
        ask = "How much is a screen of 23 kg in pounds?",
        ask = "How much is a tyre of 23 kg in pounds?",
        ask = "How much is a farm of 23 kg in pounds?",
        ask = "My car does 23 kg, what is that in pounds?",
        ask = "My car makes 23 kg, what is that in pounds?",
        ask = "My flat has 23 kg, what is that in pounds?",
        ask = "A jug takes 23 kg, what is that in pounds?",
        ask = "A jug holds 23 kg, what is that in pounds?",
        ask = "The recipe says 23 kg, what is that in pounds?",
        ask = "The recipe needs 23 kg, what is that in pounds?",
        ask = "I ran 23 kg, what is that in pounds?",
        ask = "I drove 23 kg, what is that in pounds?",
        ask = "I bought 23 kg, what is that in pounds?",
        ask = "The limit is 23 kg, what is that in pounds?",
        ask = "The recipe says 23 kg. What do I set in pounds?",
        ask = "How many pounds does a 23 kg snack contain?",
        input = r#"{"value":23,"from":"kg","to":"pounds"}"#
    ),
    example(
        ask = "What is 760 mmHg in hPa?",
        input = r#"{"value":760,"from":"mmHg","to":"hPa"}"#
    ),
    example(
        ask = "How many litres are 3 US gallons?",
        ask = "3 US gallons in litres",
        input = r#"{"value":3,"from":"US gallons","to":"litres"}"#
    ),
    example(
        ask = "How many US fluid ounces are 330 ml?",
        input = r#"{"value":330,"from":"ml","to":"US fluid ounces"}"#
    ),
    example(
        ask = "What is 4 imperial pints in litres?",
        ask = "4 imperial pints in litres",
        input = r#"{"value":4,"from":"imperial pints","to":"litres"}"#
    ),
    example(
        ask = "How much is 35 mpg in l/100km?",
        input = r#"{"value":35,"from":"mpg","to":"l/100km"}"#
    ),
    example(ask = "2 GiB in MiB", input = r#"{"value":2,"from":"GiB","to":"MiB"}"#),
    example(
        ask = "25 m/s in kilometres per hour",
        input = r#"{"value":25,"from":"m/s","to":"kilometres per hour"}"#
    ),
    example(
        ask = "How many seconds are in 3.5 hours?",
        input = r#"{"value":3.5,"from":"hours","to":"seconds"}"#
    ),
    example(
        ask = "How many minutes are in 3 and a half hours?",
        ask = "How many minutes are 3 and a half hours?",
        ask = "3 and a half hours in minutes",
        ask = "Convert 3 and a half hours to minutes",
        input = r#"{"value":3,"from":"hours","to":"minutes","extra_value":0.5,"extra_unit":"hour"}"#
    ),
    limits(fuel = 100_000_000, memory = "16 MiB", timeout = "2s")
)]
fn unit_convert(input: UnitConvertInput) -> Result<UnitConvertOutput> {
    convert::convert(&input).map_err(ToolError::validation)
}
