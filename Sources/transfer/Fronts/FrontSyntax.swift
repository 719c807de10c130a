import TransferCore
import TransferQueue

/// A word of another tool's command line.
enum FrontWord: Hashable {
    case option(FrontOption)
    case operand(String, at: Int)
}

/// An option of another tool's command line, as its table names it.
struct FrontOption: Hashable {
    /// The long name, without dashes.
    var name: String
    /// The option as it was typed, without its value.
    var shown: String
    var value = ""
    /// Whether a choice is switched on.
    var isOn = true
    /// The position of the word with the option.
    var index: Int
    /// The words that are only this option's; `nil` within a bundle of letters.
    var words: Range<Int>?

    /// The option in the form of lists.
    var listed: ListedOption {
        ListedOption(name: name, shown: shown, value: value, isOn: isOn, place: FrontPlace.of(index))
    }

    func fault(_ reason: String, line: [String]? = nil, canBeLeftOut: Bool = false) -> FrontFault {
        FrontFault(shown: shown, reason: reason, words: canBeLeftOut ? words : nil, line: line)
    }
}

/// The place of a word in messages: its position is the column.
enum FrontPlace {
    static func of(_ index: Int) -> ListPlace { ListPlace(SourceSpan(line: 1, column: index + 1)) }
}

/// The spelling of a tool's options: which names there are, and which of them have a value.
struct FrontSyntax: Sendable {
    enum Value: Sendable { case none, required, optional }

    private var names: [String: Value] = [:]
    private var letters: [Character: String] = [:]
    /// The options of two letters, by their first and second one, such as `-nc`.
    private var pairs: [Character: [Character: String]] = [:]
    /// Whether `--name=value` is a spelling of the tool.
    let joinsByEquals: Bool

    init(joinsByEquals: Bool) { self.joinsByEquals = joinsByEquals }

    mutating func add(_ name: String, letter: String? = nil, _ value: Value) {
        names[name] = value
        guard let letter, let first = letter.first else { return }
        if letter.count == 2, let second = letter.last {
            pairs[first, default: [:]][second] = name
        } else {
            letters[first] = name
        }
    }

    /// Reads a command line.
    ///
    /// - Returns: The words in their order, and the words that the tool does not have.
    func read(_ words: [String]) -> (words: [FrontWord], faults: [FrontFault]) {
        var read = Reading(syntax: self, words: words)
        read.run()
        return (read.found, read.faults)
    }

    /// Returns a long name: exact, switched off by `no-`, or the beginning of one name only.
    private func resolve(_ name: String) -> (name: String, isOn: Bool)? {
        if names[name] != nil { return (name, true) }
        if name.hasPrefix("no-"), let value = names[String(name.dropFirst(3))], value != .required {
            return (String(name.dropFirst(3)), false)
        }
        let longer = names.keys.filter { $0.hasPrefix(name) }
        if longer.count == 1, let only = longer.first, name.count > 1 { return (only, true) }
        return nil
    }

    private struct Reading {
        let syntax: FrontSyntax
        let words: [String]
        var found: [FrontWord] = []
        var faults: [FrontFault] = []
        private var next = 0

        init(syntax: FrontSyntax, words: [String]) {
            self.syntax = syntax
            self.words = words
        }

        mutating func run() {
            while next < words.count {
                let index = next
                let word = words[index]
                next += 1
                if word == "--" {
                    for rest in next..<words.count { found.append(.operand(words[rest], at: rest)) }
                    return
                }
                if word.hasPrefix("--") {
                    long(word, at: index)
                } else if word.hasPrefix("-"), word.count > 1 {
                    bundle(word, at: index)
                } else {
                    found.append(.operand(word, at: index))
                }
            }
        }

        private mutating func long(_ word: String, at index: Int) {
            let equals = syntax.joinsByEquals ? word.firstIndex(of: "=") : nil
            let shown = String(word[..<(equals ?? word.endIndex)])
            let attached = equals.map { String(word[word.index(after: $0)...]) }
            guard let (name, isOn) = syntax.resolve(String(shown.dropFirst(2))) else {
                return faults.append(unknown(shown))
            }
            var option = FrontOption(name: name, shown: shown, isOn: isOn, index: index)
            switch syntax.names[name] ?? .none {
            case .none where attached != nil:
                return faults.append(FrontFault(shown: shown, reason: "it takes no value"))
            case .none: break
            case .optional: option.value = attached ?? ""
            case .required:
                guard let value = attached ?? following() else {
                    return faults.append(FrontFault(shown: shown, reason: "its value is missing"))
                }
                option.value = value
            }
            option.words = index..<next
            found.append(.option(option))
        }

        /// Reads letters behind one dash; the first that takes a value takes the rest of them, or the next word.
        private mutating func bundle(_ word: String, at index: Int) {
            var rest = word.dropFirst()
            let isAlone = rest.count == 1
            while let letter = rest.popFirst() {
                var shown = "-\(letter)"
                if let pair = syntax.pairs[letter], let second = rest.first, let name = pair[second] {
                    rest.removeFirst()
                    shown.append(second)
                    let words = word.count == 3 ? index..<next : nil
                    found.append(
                        .option(FrontOption(name: name, shown: shown, index: index, words: words)))
                    continue
                }
                guard let name = syntax.letters[letter] else {
                    faults.append(unknown(shown))
                    return
                }
                var option = FrontOption(name: name, shown: shown, index: index)
                switch syntax.names[name] ?? .none {
                case .none: if isAlone { option.words = index..<next }
                case .optional:
                    if isAlone { option.words = index..<next }
                    option.value = String(rest)
                    rest = ""
                case .required:
                    let isFirst = word.dropFirst(2).count == rest.count
                    guard let value = rest.isEmpty ? following() : String(rest) else {
                        faults.append(FrontFault(shown: shown, reason: "its value is missing"))
                        return
                    }
                    option.value = value
                    rest = ""
                    if isFirst { option.words = index..<next }
                }
                found.append(.option(option))
            }
        }

        private mutating func following() -> String? {
            guard next < words.count else { return nil }
            defer { next += 1 }
            return words[next]
        }

        private func unknown(_ shown: String) -> FrontFault {
            let nearest =
                shown.hasPrefix("--")
                ? NearestKey.suggestion(for: String(shown.dropFirst(2)), among: syntax.names.keys.sorted()) : nil
            return FrontFault(
                shown: shown,
                reason: "no option that is known" + (nearest.map { "; did you mean --\($0)?" } ?? ""))
        }
    }
}
