import TransferCore

/// A text of curl's list that expands to several, with sets, `{a,b}`, and ranges, `[1-100]`, `[001-100:2]`, `[a-z]`
/// (curl's manual, URL). A backslash escapes a bracket or a comma.
package struct CurlPattern: Sendable {
    package struct Fault: Error {
        package var message: String
    }

    /// The maximum number of texts that one pattern may yield.
    package static let most = 100_000

    private enum Part: Sendable {
        case text(String)
        case set([String])
        /// A range of numbers.
        ///
        /// - Parameter width: The minimum number of digits, with leading zeros.
        case numbers(first: Int, step: Int, count: Int, width: Int)
        case letters(first: UInt8, step: Int, count: Int)

        var count: Int {
            switch self {
            case .text: 1
            case .set(let words): words.count
            case .numbers(_, _, let count, _), .letters(_, _, let count): count
            }
        }

        var isText: Bool { if case .text = self { true } else { false } }

        func word(_ index: Int) -> String {
            switch self {
            case .text(let text): return text
            case .set(let words): return words[index]
            case .numbers(let first, let step, _, let width):
                let digits = String(first + step * index)
                return String(repeating: "0", count: max(0, width - digits.count)) + digits
            case .letters(let first, let step, _):
                return String(UnicodeScalar(first + UInt8(step * index)))
            }
        }
    }

    private var parts: [Part] = []
    /// The number of texts.
    package private(set) var count = 1

    /// Parses a pattern.
    ///
    /// - Parameter globs: Whether brackets have a special meaning.
    package init(_ text: String, globs: Bool = true) throws(Fault) {
        guard globs, text.contains(where: { "{}[]\\".contains($0) }) else {
            parts = [.text(text)]
            return
        }
        var rest = Substring(text)
        var plain = ""
        while let next = rest.first {
            if next == "\\", let escaped = rest.dropFirst().first, "{}[]".contains(escaped) {
                plain.append(escaped)
                rest = rest.dropFirst(2)
                continue
            }
            guard "{}[]".contains(next) else {
                plain.append(rest.removeFirst())
                continue
            }
            if next == "[", let address = Self.address(rest) {
                plain += address
                rest = rest.dropFirst(address.count)
                continue
            }
            let part = next == "{" ? try Self.set(&rest) : next == "[" ? try Self.range(&rest) : nil
            guard let part else { throw Fault(message: "\"\(next)\" closes nothing; globoff where it is meant") }
            if !plain.isEmpty { parts.append(.text(plain)) }
            plain = ""
            parts.append(part)
            let (product, isTooMuch) = count.multipliedReportingOverflow(by: part.count)
            guard !isTooMuch, product <= Self.most else { throw Self.tooMany }
            count = product
        }
        if !plain.isEmpty || parts.isEmpty { parts.append(.text(plain)) }
    }

    package static let tooMany = Fault(
        message: "a pattern stands for 100,000 files at most: write several, with smaller ranges")

    /// Whether the text has sets or ranges.
    package var isPattern: Bool { parts.contains { !$0.isText } }

    /// Returns one of the texts, with the word that each set and range has in it. The last set or range changes
    /// fastest.
    ///
    /// - Parameter index: Below ``count``.
    package subscript(_ index: Int) -> (text: String, words: [String]) {
        var rest = index
        var words: [String] = []
        for part in parts.reversed() {
            words.append(part.word(rest % part.count))
            rest /= part.count
        }
        words.reverse()
        let own = zip(parts, words).filter { !$0.0.isText }.map(\.1)
        return (words.joined(), own)
    }

    /// Returns a name with `#1`, `#2` and so on replaced by the words of the sets and ranges.
    package static func filled(_ name: String, _ words: [String]) -> String {
        guard name.contains("#") else { return name }
        var filled = ""
        var rest = Substring(name)
        while let next = rest.popFirst() {
            let digits = next == "#" ? rest.prefix { $0.isASCII && $0.isNumber } : ""
            if let number = Int(digits), words.indices.contains(number - 1) {
                filled += words[number - 1]
                rest = rest.dropFirst(digits.count)
            } else {
                filled.append(next)
            }
        }
        return filled
    }

    /// Returns an IPv6 address, which is in brackets too.
    private static func address(_ text: Substring) -> Substring? {
        guard let end = text.firstIndex(of: "]") else { return nil }
        let inner = text[..<end].dropFirst().prefix { $0 != "%" }
        guard inner.contains(":"), IPAddress(inner) != nil else { return nil }
        return text[...end]
    }

    /// Reads `{a,b}`.
    private static func set(_ rest: inout Substring) throws(Fault) -> Part {
        rest.removeFirst()
        var words = [""]
        while let next = rest.popFirst() {
            switch next {
            case "}":
                guard !words.contains("") else { throw Fault(message: "a word of the braces is empty") }
                return .set(words)
            case ",": words.append("")
            case "{", "[":
                throw Fault(message: "brackets do not stand within braces; a backslash in front takes their meaning")
            case "\\":
                if let escaped = rest.first, "{}[],".contains(escaped) {
                    words[words.count - 1].append(rest.removeFirst())
                } else {
                    words[words.count - 1].append(next)
                }
            default: words[words.count - 1].append(next)
            }
        }
        throw Fault(message: "the braces are not closed; globoff where they are meant")
    }

    /// Reads `[1-100]`, `[a-z]` and `[1-100:10]`.
    private static func range(_ rest: inout Substring) throws(Fault) -> Part {
        let wrong = Fault(
            message:
                "a range is written [1-100], [001-100:2] or [a-z], from below upwards; globoff where the brackets are meant"
        )
        guard let end = rest.firstIndex(of: "]") else {
            throw Fault(message: "the brackets are not closed; globoff where they are meant")
        }
        let inner = rest[..<end].dropFirst()
        rest = rest[rest.index(after: end)...]
        let halves = inner.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let bounds = halves[0].split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        let step = halves.count == 1 ? 1 : number(halves[1])
        guard bounds.count == 2, let step, step > 0 else { throw wrong }
        if let first = number(bounds[0]), let last = number(bounds[1]) {
            guard first <= last else { throw wrong }
            let (count, isTooMuch) = ((last - first) / step).addingReportingOverflow(1)
            guard !isTooMuch, count <= most else { throw tooMany }
            return .numbers(
                first: first, step: step, count: count, width: bounds[0].first == "0" ? bounds[0].utf8.count : 0)
        }
        guard let first = letter(bounds[0]), let last = letter(bounds[1]), first <= last, first & 0x20 == last & 0x20
        else { throw wrong }
        return .letters(first: first, step: step, count: Int(last - first) / step + 1)
    }

    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }

    private static func letter(_ text: Substring) -> UInt8? {
        guard text.utf8.count == 1, let byte = text.utf8.first, (0x41...0x5A).contains(byte & 0xDF) else { return nil }
        return byte
    }
}
