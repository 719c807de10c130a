public import TransferCore

/// A template of upload URLs, with placeholders for the differences between files.
///
/// - `{name}`: the file's name; `{path}`: its path beneath the watched folder
/// - `{date}`: the day of its last change as `2026-03-01`, by the local time zone
/// - `{sha256}`: the SHA-256 of its content, in hexadecimal
/// - `{host}`: the name of this machine
///
/// Values are percent-encoded (RFC 3986), `{path}` segment by segment. `{{` is a literal brace.
public struct URLTemplate: Sendable, Hashable, CustomStringConvertible {
    /// The names that may be in braces.
    public enum Placeholder: String, Sendable, Hashable, CaseIterable {
        case name, path, date, sha256, host
    }

    private enum Part: Sendable, Hashable {
        case text(String)
        case placeholder(Placeholder)
    }

    private var parts: [Part] = []

    /// Parses a template.
    ///
    /// - Throws: `TransferError` (`badURL`) for an unknown placeholder or an unclosed brace.
    public init(_ text: String) throws(TransferError) {
        let template: TemplateText
        do throws(TemplateText.OpenBrace) {
            template = try TemplateText(text, braces: .places)
        } catch {
            throw TransferError(.badURL, "\"\(text)\": a brace is not closed; \(Self.known)")
        }
        for part in template.parts {
            switch part {
            case .text(let text): parts.append(.text(text))
            case .place(let place):
                guard let placeholder = Placeholder(rawValue: place.text) else {
                    throw TransferError(.badURL, "\"\(text)\": {\(place.text)} stands for nothing; \(Self.known)")
                }
                parts.append(.placeholder(placeholder))
            }
        }
    }

    private static let known =
        "known are " + Placeholder.allCases.map { "{\($0.rawValue)}" }.joined(separator: ", ")

    public var description: String {
        parts.map { part in
            switch part {
            case .text(let text): TemplateText.escaped(text)
            case .placeholder(let placeholder): "{\(placeholder.rawValue)}"
            }
        }.joined()
    }

    /// The placeholders in the template.
    public var placeholders: Set<Placeholder> {
        Set(
            parts.compactMap { part in
                guard case .placeholder(let placeholder) = part else { return nil }
                return placeholder
            })
    }

    /// Whether the file has to be read before its URL is known.
    public var needsDigest: Bool { placeholders.contains(.sha256) }

    /// Returns whether any two files get different URLs, to the extent that this depends on their names.
    ///
    /// - Parameter isRecursive: Whether files may be in sub-folders, where names may repeat.
    public func tellsFilesApart(isRecursive: Bool) -> Bool {
        !placeholders.isDisjoint(with: isRecursive ? [.path, .sha256] : [.path, .sha256, .name])
    }

    /// Whether only the query, after a `?`, distinguishes files.
    public var namesFilesInQueryOnly: Bool {
        let naming: Set<Placeholder> = [.name, .path, .sha256]
        var isInQuery = false
        for part in parts {
            switch part {
            case .text(let text): isInQuery = isInQuery || text.utf8.contains(UInt8(ascii: "?"))
            case .placeholder(let placeholder): if naming.contains(placeholder), !isInQuery { return false }
            }
        }
        return isInQuery && !placeholders.isDisjoint(with: naming)
    }

    /// Returns the template with `{path}` (for a recursive watch) or `{name}` at the end of its path, if no placeholder
    /// in it names a file. Otherwise returns it unchanged. A query stays at the end.
    public func completed(isRecursive: Bool) -> URLTemplate {
        guard placeholders.isDisjoint(with: [.name, .path, .sha256]) else { return self }
        var completed = self
        var tail: [Part] = []
        let isQuery = { (byte: UInt8) in byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") }
        for (index, part) in parts.enumerated() {
            guard case .text(let text) = part, let query = text.utf8.firstIndex(where: isQuery) else { continue }
            tail = [.text(String(text[query...]))] + parts[(index + 1)...]
            completed.parts = parts[..<index] + [.text(String(text[..<query]))]
            break
        }
        let isFolder = if case .text(let text)? = completed.parts.last { text.hasSuffix("/") } else { false }
        if !isFolder { completed.parts.append(.text("/")) }
        completed.parts.append(.placeholder(isRecursive ? .path : .name))
        completed.parts += tail
        return completed
    }

    /// Returns the URL of a file.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - sha256: The SHA-256 in hexadecimal; evaluated only if ``needsDigest`` is true.
    ///   - host: The name of this machine.
    public func url(for file: FileVersion, sha256: @autoclosure () -> String = "", host: String) -> String {
        var url = ""
        for part in parts {
            switch part {
            case .text(let text): url += text
            case .placeholder(.name): url += PercentEncoding.encode(file.name)
            case .placeholder(.path):
                url += PathText.components(file.path).map { PercentEncoding.encode($0) }.joined(separator: "/")
            case .placeholder(.date): url += Self.localDate(file.modified)
            case .placeholder(.sha256): url += sha256()
            case .placeholder(.host): url += PercentEncoding.encode(host)
            }
        }
        return url
    }

    private static func localDate(_ nanoseconds: Int64) -> String {
        let fraction = nanoseconds % 1_000_000_000
        return LocalDate.iso((nanoseconds - fraction) / 1_000_000_000 - (fraction < 0 ? 1 : 0))
    }
}
