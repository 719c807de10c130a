@testable import transfer

/// The table of other tools' options, in the form of an article.
enum OptionsTable {
    static var markdown: String {
        let rows = ForeignOptions.all.map { option in
            let names = option.names.map { "`\($0)`" }.joined(separator: " ")
            return "| \(names) | \(option.value.words) | \(escaped(option.answer.words)) |\n"
        }
        return "| option | its value | here |\n| --- | --- | --- |\n" + rows.joined()
    }

    private static func escaped(_ text: String) -> String { text.replacing("|", with: "\\|") }
}

extension ForeignOption.Value {
    fileprivate var words: String {
        switch self {
        case .nothing: "none"
        case .anything: "any"
        case .number: "a number"
        case .seconds: "a number of seconds"
        }
    }
}

extension ForeignOption.Answer {
    fileprivate var words: String {
        switch self {
        case .always(let what): "not needed: \(what)"
        case .same(let words): "`\(words.joined(separator: " "))`"
        case .option(let name): "`\(name)`"
        case .tries(let name): "`\(name)`, with one less: the first attempt is not counted"
        case .key(let key): "a key of the job file, for example `\(key)`"
        case .list(let form): "`transfer get -i FILE --format \(form)`"
        case .words(let words): words
        }
    }
}
