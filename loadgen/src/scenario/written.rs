//! Scalars and lists as people write them in YAML: `off` and `200/s` without quotes, one value or a list of them.

use std::{fmt, marker::PhantomData, str::FromStr, time::Duration};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, SeqAccess, Visitor},
};

use crate::{
    handler_cost::HandlerCost,
    quantity::{QuantityError, Rate, ResyncPeriod, Share, format_duration, parse_duration},
};

/// Reads a scalar through the type's [`FromStr`], whatever YAML takes it for (`off` is a boolean to YAML, `200` a number).
struct ScalarVisitor<T>(PhantomData<T>);

impl<T> Visitor<'_> for ScalarVisitor<T>
where
    T: FromStr<Err: fmt::Display>,
{
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("one value")
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<T, E> {
        self.visit_str(if value { "on" } else { "off" })
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<T, E> {
        self.visit_str(&value.to_string())
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<T, E> {
        self.visit_str(&value.to_string())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<T, E> {
        self.visit_str(&value.to_string())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

/// A scalar that is read and written as text.
#[derive(Debug)]
struct Scalar<T>(T);

impl<'de, T> Deserialize<'de> for Scalar<T>
where
    T: FromStr<Err: fmt::Display>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_any(ScalarVisitor(PhantomData))
            .map(Self)
    }
}

/// The values of one field: one, or several of which each becomes a variant. Never empty.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis<T>(Vec<T>);

impl<T> Axis<T> {
    /// Makes an axis of one value.
    pub fn one(value: T) -> Self {
        Self(vec![value])
    }

    /// Makes an axis.
    ///
    /// # Errors
    /// If there are no values.
    pub fn try_new(values: Vec<T>) -> Result<Self, QuantityError> {
        if values.is_empty() {
            Err(QuantityError::new("[]", "a value or a list of values"))
        } else {
            Ok(Self(values))
        }
    }

    /// The axis of what `change` makes of each value.
    #[must_use]
    pub fn map<U>(&self, change: impl Fn(T) -> U) -> Axis<U>
    where
        T: Copy,
    {
        Axis(self.0.iter().copied().map(change).collect())
    }

    /// The values, in the order written.
    pub fn values(&self) -> &[T] {
        &self.0
    }
}

impl<T: FromStr<Err = QuantityError>> FromStr for Axis<T> {
    type Err = QuantityError;

    /// Reads values between commas, as flags carry them.
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let values: Result<Vec<T>, _> = text.split(',').map(|value| value.trim().parse()).collect();
        Self::try_new(values?)
    }
}

struct AxisVisitor<T>(PhantomData<T>);

impl<'de, T> Visitor<'de> for AxisVisitor<T>
where
    T: FromStr<Err: fmt::Display>,
{
    type Value = Axis<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value or a list of values")
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Axis<T>, E> {
        ScalarVisitor(PhantomData).visit_bool(value).map(Axis::one)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Axis<T>, E> {
        ScalarVisitor(PhantomData).visit_i64(value).map(Axis::one)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Axis<T>, E> {
        ScalarVisitor(PhantomData).visit_u64(value).map(Axis::one)
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Axis<T>, E> {
        ScalarVisitor(PhantomData).visit_f64(value).map(Axis::one)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Axis<T>, E> {
        ScalarVisitor(PhantomData).visit_str(text).map(Axis::one)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Axis<T>, A::Error> {
        let mut values = Vec::new();
        while let Some(Scalar(value)) = sequence.next_element()? {
            values.push(value);
        }
        Axis::try_new(values).map_err(de::Error::custom)
    }
}

impl<'de, T> Deserialize<'de> for Axis<T>
where
    T: FromStr<Err: fmt::Display>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AxisVisitor(PhantomData))
    }
}

impl<T: fmt::Display> Serialize for Axis<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(ToString::to_string))
    }
}

/// A duration that is written with its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenDuration(pub Duration);

impl FromStr for WrittenDuration {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        parse_duration(text).map(Self)
    }
}

impl fmt::Display for WrittenDuration {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&format_duration(self.0))
    }
}

/// How many objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectCount(pub u64);

impl FromStr for ObjectCount {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        text.replace('_', "")
            .parse()
            .map(Self)
            .map_err(|_| QuantityError::new(text, "a number of objects such as 20000"))
    }
}

impl fmt::Display for ObjectCount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, formatter)
    }
}

macro_rules! read_and_written_as_text {
    ($($name:ty),+) => {$(
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Scalar::deserialize(deserializer).map(|Scalar(value)| value)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    )+};
}

read_and_written_as_text!(
    HandlerCost,
    ObjectCount,
    Rate,
    ResyncPeriod,
    Share,
    WrittenDuration,
    super::choice::HandlerKind,
    super::choice::Implementation,
    super::choice::InformerKind,
    super::choice::QueuePreset
);
