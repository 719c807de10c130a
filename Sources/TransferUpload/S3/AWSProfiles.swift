/// The profiles of `~/.aws/credentials` and `~/.aws/config`: sections of `name = value` lines.
///
/// The form is described in "Configuration and credential file settings" of the AWS CLI's user guide.
struct AWSProfiles: Sendable, Hashable {
    enum Kind: Sendable {
        /// The credentials file, whose sections have the names of the profiles.
        case credentials
        /// The config file, whose sections are `[default]` and `[profile NAME]`; others are no profiles.
        case config
    }

    /// The settings by profile, then by their names in lower case.
    private(set) var settings: [String: [String: String]] = [:]
    /// The settings of the sections `[sso-session NAME]` of the config file.
    private(set) var sessions: [String: [String: String]] = [:]

    /// Parses a file. Lines that are neither a section nor a setting are skipped, as the AWS tools do.
    init(_ text: String, _ kind: Kind) {
        var (profile, session): (String?, String?) = (nil, nil)
        for line in text.split(omittingEmptySubsequences: true, whereSeparator: \.isNewline) {
            let content = Self.withoutComment(line.first == "\u{FEFF}" ? line.dropFirst() : line)
            guard let first = content.first else { continue }
            if first == "[" {
                profile = Self.profile(content, kind)
                session = kind == .config ? Self.named("sso-session", content) : nil
                if let profile { settings[profile, default: [:]] = settings[profile, default: [:]] }
            } else if line.first == " " || line.first == "\t" {
                // Nested settings (`s3 =` and indented lines) are not needed here.
                continue
            } else if let equals = content.firstIndex(of: "=") {
                let name = Self.trimmed(content[..<equals]).lowercased()
                let value = String(Self.trimmed(content[equals...].dropFirst()))
                if let profile { settings[profile]?[name] = value }
                if let session { sessions[session, default: [:]][name] = value }
            }
        }
    }

    private static func profile(_ line: Substring, _ kind: Kind) -> String? {
        guard let close = line.firstIndex(of: "]") else { return nil }
        let name = trimmed(line[..<close].dropFirst())
        guard kind == .config, name != "default" else { return unquoted(name) }
        return named("profile", line)
    }

    /// Returns the name in a section `[KIND NAME]`; `nil` for other sections.
    private static func named(_ kind: String, _ line: Substring) -> String? {
        guard let close = line.firstIndex(of: "]") else { return nil }
        let name = trimmed(line[..<close].dropFirst())
        guard name.hasPrefix(kind), let next = name.dropFirst(kind.count).first, isSpace(next) else { return nil }
        return unquoted(trimmed(name.dropFirst(kind.count)))
    }

    private static func unquoted(_ text: Substring) -> String {
        guard text.count >= 2, let quote = text.first, quote == text.last, quote == "\"" || quote == "'" else {
            return String(text)
        }
        return String(text.dropFirst().dropLast())
    }

    /// Removes a comment, which begins a line or follows white space; a `#` inside a secret begins none.
    private static func withoutComment(_ line: Substring) -> Substring {
        var afterSpace = true
        for index in line.indices {
            if afterSpace, line[index] == "#" || line[index] == ";" { return trimmed(line[..<index]) }
            afterSpace = isSpace(line[index])
        }
        return trimmed(line)
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let start = text.drop(while: isSpace)
        guard let last = start.lastIndex(where: { !isSpace($0) }) else { return start[start.endIndex...] }
        return start[...last]
    }

    private static func isSpace(_ character: Character) -> Bool { character == " " || character == "\t" }
}
