//! The languages that codes are explained in.

/// A language of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Simplified Chinese.
    Chinese,
}

impl Language {
    /// The short name: `en` or `zh`.
    #[must_use]
    pub fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh",
        }
    }

    /// A language by its short name or by a locale such as `zh_CN.UTF-8`; `None` for any other.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let short = name.split(['_', '-', '.', '@']).next().unwrap_or_default();
        match short {
            "zh" => Some(Self::Chinese),
            "en" => Some(Self::English),
            _ => None,
        }
    }

    /// The language of an environment: `CANNERY_LANG` when it names one, else the first of
    /// `LC_ALL`, `LC_MESSAGES` and `LANG` that is set, else English. `variable` looks one up.
    pub fn of_environment(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        if let Some(chosen) = set("CANNERY_LANG").and_then(|name| Self::of(&name)) {
            return chosen;
        }
        ["LC_ALL", "LC_MESSAGES", "LANG"]
            .into_iter()
            .find_map(set)
            .and_then(|locale| Self::of(&locale))
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::Language::{self, Chinese, English};

    fn of(set: &[(&str, &str)]) -> Language {
        Language::of_environment(|name| {
            let found = set.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_setting_wins_then_the_locale_in_the_order_of_posix() {
        assert_eq!(of(&[]), English);
        assert_eq!(of(&[("LANG", "zh_CN.UTF-8")]), Chinese);
        assert_eq!(of(&[("LANG", "zh_CN.UTF-8"), ("LC_ALL", "C")]), English);
        assert_eq!(of(&[("LANG", "C"), ("LC_MESSAGES", "zh")]), Chinese);
        assert_eq!(of(&[("LANG", "zh_CN"), ("LC_ALL", "")]), Chinese);
        assert_eq!(of(&[("CANNERY_LANG", "en"), ("LANG", "zh_CN")]), English);
        assert_eq!(of(&[("CANNERY_LANG", "ZH-Hans"), ("LANG", "C")]), Chinese);
        assert_eq!(of(&[("CANNERY_LANG", "fr"), ("LANG", "zh_CN")]), Chinese);
        assert_eq!(of(&[("LANG", "de_DE.UTF-8")]), English);
    }
}
