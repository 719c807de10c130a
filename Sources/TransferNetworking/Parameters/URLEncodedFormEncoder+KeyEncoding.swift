extension URLEncodedFormEncoder {
    /// The notation of names. Each name is converted separately, including those of nested values.
    public enum KeyEncoding: Sendable {
        /// Names are unchanged.
        case useDefaultKeys
        /// `oneTwoThree` becomes `one_two_three`. A run of capitals is one word: `aURLString` becomes `a_url_string`.
        case convertToSnakeCase
        /// `oneTwoThree` becomes `one-two-three`.
        case convertToKebabCase
        /// `oneTwoThree` becomes `OneTwoThree`.
        case capitalized
        /// `oneTwoThree` becomes `ONETWOTHREE`.
        case uppercased
        /// `oneTwoThree` becomes `onetwothree`.
        case lowercased
        /// A closure converts each name.
        @preconcurrency
        case custom(@Sendable (String) -> String)

        func encode(_ key: String) -> String {
            switch self {
            case .useDefaultKeys: key
            case .convertToSnakeCase: Self.words(of: key, separator: "_")
            case .convertToKebabCase: Self.words(of: key, separator: "-")
            case .capitalized: key.prefix(1).uppercased() + key.dropFirst()
            case .uppercased: key.uppercased()
            case .lowercased: key.lowercased()
            case .custom(let encode): encode(key)
            }
        }

        /// Separates words. A word starts at a capital after another character, and at the last capital of a run if a
        /// small letter follows.
        private static func words(of key: String, separator: Character) -> String {
            let characters = Array(key)
            var result = ""
            for (index, character) in characters.enumerated() {
                if index > 0, character.isUppercase {
                    let previous = characters[index - 1]
                    let next = index + 1 < characters.count ? characters[index + 1] : nil
                    let afterCapital = previous.isUppercase
                    if previous != separator, previous != "_", !afterCapital || next?.isLowercase == true {
                        result.append(separator)
                    }
                }
                result += character.lowercased()
            }
            return result
        }
    }
}
