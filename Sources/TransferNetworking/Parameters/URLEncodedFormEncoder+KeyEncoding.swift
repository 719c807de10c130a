extension URLEncodedFormEncoder {
    /// How names are written; each on its own, those of nested values too.
    public enum KeyEncoding: Sendable {
        /// As they are.
        case useDefaultKeys
        /// `oneTwoThree` as `one_two_three`; runs of capitals are one word: `aURLString` as `a_url_string`.
        case convertToSnakeCase
        /// `oneTwoThree` as `one-two-three`
        case convertToKebabCase
        /// `oneTwoThree` as `OneTwoThree`
        case capitalized
        /// `oneTwoThree` as `ONETWOTHREE`
        case uppercased
        /// `oneTwoThree` as `onetwothree`
        case lowercased
        /// By a closure.
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

        /// A word starts at a capital after something that's none, and at the last of a run of capitals when a small
        /// letter follows it.
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
