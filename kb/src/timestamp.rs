//! Parses timestamps of the database.

use std::time::SystemTime;

/// Parses `2026-11-22T10:04:05.123456+00:00`; `None` for an invalid timestamp or one before 1970.
pub fn parse_timestamp(timestamp: &str) -> Option<SystemTime> {
    SystemTime::UNIX_EPOCH.checked_add(extract::timestamp(timestamp)?)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn seconds(timestamp: &str) -> Option<u64> {
        Some(parse_timestamp(timestamp)?.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs())
    }

    #[test]
    fn timestamps_of_the_database_are_parsed() {
        // date -u -d TIMESTAMP +%s
        for (timestamp, expected) in [
            ("1970-01-01T00:00:00+00:00", 0),
            ("2026-11-22T10:04:05.123456+00:00", 1_795_341_845),
            ("2026-11-22 10:04:05+00", 1_795_341_845),
            ("2026-11-22T10:04:05Z", 1_795_341_845),
            ("2026-11-22T12:04:05+02:00", 1_795_341_845),
            ("2026-11-22T04:34:05-05:30", 1_795_341_845),
            ("2000-02-29T00:00:00Z", 951_782_400),
            ("2000-03-01T00:00:00Z", 951_868_800),
            ("2100-03-01T00:00:00Z", 4_107_542_400),
            ("2024-12-31T23:59:59Z", 1_735_689_599),
        ] {
            assert_eq!(seconds(timestamp), Some(expected), "{timestamp}");
        }
        let fraction = parse_timestamp("1970-01-01T00:00:00.5+00:00").unwrap();
        assert_eq!(fraction.duration_since(SystemTime::UNIX_EPOCH).unwrap(), Duration::from_millis(500));
    }

    #[test]
    fn invalid_timestamps_are_rejected() {
        for text in [
            "",
            "T",
            "now",
            "2026-11-22",
            "2026-11-22T10:04:05",
            "2026-13-22T10:04:05Z",
            "2026-00-22T10:04:05Z",
            "2026-11-00T10:04:05Z",
            "2026-11-22T25:04:05Z",
            "2026-11-22T10:04:05.Z",
            "2026-11-22T10:04:05+1",
            "2026-11-22T10:04+00:00",
            "26-11-22T10:04:05Z",
            "1969-12-31T23:59:59Z",
            "1970-01-01T00:00:00+01:00",
            "2026-11-22T10:04:05é",
            "é026-11-22T10:04:05Z",
            "infinity",
            "+026-11-22T10:04:05Z",
            "0000-11-22T10:04:05Z",
        ] {
            assert_eq!(parse_timestamp(text), None, "{text:?}");
        }
    }
}
