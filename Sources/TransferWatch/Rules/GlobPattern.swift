public import TransferCore

/// A pattern for names, as in shells: `*` and `?` within a name, `[a-z]` and `[!a-z]`, `**` for any folders, `{a,b}`
/// for either. A backslash makes the next character literal.
///
/// A pattern without `/` is for names in any folder. With one, even in front, it is for the whole path beneath the
/// watched folder. A pattern that ends in `/` is for folders only. Case matters.
public struct GlobPattern: Sendable, Hashable, CustomStringConvertible {
    /// The pattern as it was written.
    public let text: String
    /// The alternatives, of which one has to match; `{a,b}` has been expanded.
    private let alternatives: [[Segment]]
    private let isForName: Bool
    let isForFoldersOnly: Bool

    private enum Segment: Sendable, Hashable {
        /// Any number of folders, including none.
        case anyFolders
        case name([Token])
    }

    private enum Token: Sendable, Hashable {
        case exactly(Unicode.Scalar)
        case anyOne
        case anyNumber
        case oneOf([ClosedRange<Unicode.Scalar>], isNegated: Bool)
    }

    private static let mostAlternatives = 256

    /// Parses a pattern.
    ///
    /// - Throws: `TransferError` (`invalidRequest`) for an unclosed bracket or brace, a reversed range, an empty
    ///   pattern, or braces that expand to more than 256 patterns.
    public init(_ text: String) throws(TransferError) {
        self.text = text
        var scalars = Array(text.unicodeScalars)[...]
        isForFoldersOnly = scalars.count > 1 && scalars.last == "/"
        if isForFoldersOnly { scalars = scalars.dropLast() }
        isForName = !scalars.contains("/")
        if scalars.first == "/" { scalars = scalars.dropFirst() }
        guard !scalars.isEmpty else { throw Self.fault(text, "it is empty") }
        var alternatives: [[Segment]] = []
        for alternative in try Self.expand(scalars, in: text) {
            alternatives.append(try Self.segments(alternative, in: text))
        }
        self.alternatives = alternatives
    }

    public var description: String { text }

    /// Returns whether the pattern matches a file or folder.
    ///
    /// - Parameter path: The path beneath the watched folder.
    public func matches(_ path: String) -> Bool {
        let parts =
            isForName ? [PathText.name(path)] : path.utf8.split(separator: UInt8(ascii: "/")).map(Substring.init)
        let names = parts.map { Array($0.unicodeScalars) }
        return alternatives.contains { alternative in
            Self.match(alternative, names, isAny: { $0 == .anyFolders }) { Self.matches($0, $1) }
        }
    }

    /// The last name of each alternative, with a neutral character for each place that the pattern leaves open.
    var lastNames: [String] {
        alternatives.compactMap { alternative in
            if case .name(let tokens)? = alternative.last { Self.written(tokens) } else { nil }
        }
    }

    /// Returns how the pattern spells the name of a folder on the way to its matches.
    ///
    /// - Parameter path: The path of the folder, beneath the watched one.
    func beginnings(matching path: String) -> [String] {
        guard !isForName else { return [] }
        let names = path.utf8.split(separator: UInt8(ascii: "/")).map { Array(Substring($0).unicodeScalars) }
        return alternatives.flatMap { alternative in
            alternative.indices.dropFirst().compactMap { end -> String? in
                guard case .name(let tokens) = alternative[end - 1] else { return nil }
                let isMatch = Self.match(Array(alternative[..<end]), names, isAny: { $0 == .anyFolders }) {
                    Self.matches($0, $1)
                }
                return isMatch ? Self.written(tokens) : nil
            }
        }
    }

    private static func written(_ tokens: [Token]) -> String {
        let scalars = tokens.map { token -> Unicode.Scalar in
            switch token {
            case .exactly(let scalar): scalar
            case .oneOf(let ranges, false): ranges.first?.lowerBound ?? "\u{1}"
            case .anyOne, .anyNumber, .oneOf: "\u{1}"
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }

    private static func matches(_ segment: Segment, _ name: [Unicode.Scalar]) -> Bool {
        guard case .name(let tokens) = segment else { return false }
        return match(tokens, name, isAny: { $0 == .anyNumber }, matches: matches)
    }

    private static func matches(_ token: Token, _ scalar: Unicode.Scalar) -> Bool {
        switch token {
        case .exactly(let wanted): wanted == scalar
        case .anyOne: true
        case .anyNumber: false
        case .oneOf(let ranges, let isNegated): ranges.contains { $0.contains(scalar) } != isNegated
        }
    }

    /// Returns whether the items match the pattern. Only the last "any number" is extended on failure, so that the time
    /// is at most the product of both lengths.
    private static func match<Part, Item>(
        _ pattern: [Part], _ items: [Item], isAny: (Part) -> Bool, matches: (Part, Item) -> Bool
    ) -> Bool {
        var part = 0
        var item = 0
        var back: (part: Int, item: Int)?
        while item < items.count {
            if part < pattern.count, isAny(pattern[part]) {
                back = (part, item)
                part += 1
            } else if part < pattern.count, matches(pattern[part], items[item]) {
                part += 1
                item += 1
            } else if let last = back {
                back = (last.part, last.item + 1)
                part = last.part + 1
                item = last.item + 1
            } else {
                return false
            }
        }
        return pattern[part...].allSatisfy(isAny)
    }

    // MARK: Reading

    private static func fault(_ text: String, _ what: String) -> TransferError {
        TransferError(.invalidRequest, "\"\(text)\" is no pattern for names: \(what)")
    }

    /// Expands the first pair of braces, and then the rest.
    private static func expand(
        _ pattern: ArraySlice<Unicode.Scalar>, in text: String
    ) throws(TransferError) -> [ArraySlice<Unicode.Scalar>] {
        var finished: [ArraySlice<Unicode.Scalar>] = []
        var open = [pattern]
        while let next = open.popLast() {
            guard let (start, parts, end) = try braces(next, in: text) else {
                finished.append(next)
                continue
            }
            guard finished.count + open.count + parts.count <= mostAlternatives else {
                throw fault(text, "its braces stand for more than \(CountText.words(mostAlternatives, "pattern"))")
            }
            for part in parts { open.append(next[..<start] + part + next[end...]) }
        }
        return finished
    }

    /// Returns the first outermost pair of braces: its start, the parts between its commas, and its end.
    private static func braces(
        _ pattern: ArraySlice<Unicode.Scalar>, in text: String
    ) throws(TransferError) -> (Int, [ArraySlice<Unicode.Scalar>], Int)? {
        var start: Int?
        var parts: [ArraySlice<Unicode.Scalar>] = []
        var begin = 0
        var depth = 0
        var index = pattern.startIndex
        while index < pattern.endIndex {
            switch pattern[index] {
            case "\\": index += 1
            case "[":
                // A brace within brackets is literal.
                if let end = closingBracket(pattern, index) { index = end }
            case "{":
                depth += 1
                if depth == 1 { (start, begin) = (index, index + 1) }
            case "," where depth == 1:
                parts.append(pattern[begin..<index])
                begin = index + 1
            case "}" where depth > 0:
                depth -= 1
                if depth == 0, let start { return (start, parts + [pattern[begin..<index]], index + 1) }
            default: break
            }
            index += 1
        }
        if depth > 0 { throw fault(text, "a brace is not closed") }
        return nil
    }

    private static func closingBracket(_ pattern: ArraySlice<Unicode.Scalar>, _ open: Int) -> Int? {
        var index = open + 1
        if index < pattern.endIndex, pattern[index] == "!" || pattern[index] == "^" { index += 1 }
        // The first character within the brackets may be a closing bracket itself.
        if index < pattern.endIndex, pattern[index] == "]" { index += 1 }
        return pattern[min(index, pattern.endIndex)...].firstIndex(of: "]")
    }

    private static func segments(
        _ pattern: ArraySlice<Unicode.Scalar>, in text: String
    ) throws(TransferError) -> [Segment] {
        var segments: [Segment] = []
        for part in pattern.split(separator: "/") {
            if Array(part) == ["*", "*"] {
                segments.append(.anyFolders)
            } else {
                segments.append(.name(try tokens(part, in: text)))
            }
        }
        // The pattern `a/**` means all content of a, and not a itself.
        if segments.last == .anyFolders { segments.append(.name([.anyNumber])) }
        return segments
    }

    private static func tokens(
        _ part: ArraySlice<Unicode.Scalar>, in text: String
    ) throws(TransferError) -> [Token] {
        var tokens: [Token] = []
        var index = part.startIndex
        while index < part.endIndex {
            switch part[index] {
            case "*": if tokens.last != .anyNumber { tokens.append(.anyNumber) }
            case "?": tokens.append(.anyOne)
            case "\\" where index + 1 < part.endIndex:
                index += 1
                tokens.append(.exactly(part[index]))
            case "[":
                guard let end = closingBracket(part, index) else { throw fault(text, "a bracket is not closed") }
                tokens.append(try oneOf(part[(index + 1)..<end], in: text))
                index = end
            default: tokens.append(.exactly(part[index]))
            }
            index += 1
        }
        return tokens
    }

    private static func oneOf(
        _ inner: ArraySlice<Unicode.Scalar>, in text: String
    ) throws(TransferError) -> Token {
        let isNegated = inner.first == "!" || inner.first == "^"
        var rest = isNegated ? inner.dropFirst() : inner
        var ranges: [ClosedRange<Unicode.Scalar>] = []
        while let first = rest.popFirst() {
            if rest.count >= 2, rest.first == "-" {
                let last = rest[rest.startIndex + 1]
                rest = rest.dropFirst(2)
                guard first <= last else { throw fault(text, "the range \(first)-\(last) goes backwards") }
                ranges.append(first...last)
            } else {
                ranges.append(first...first)
            }
        }
        return .oneOf(ranges, isNegated: isNegated)
    }
}
