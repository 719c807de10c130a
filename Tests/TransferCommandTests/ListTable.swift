@testable import TransferJobs

/// The options in lists of other tools, in the form of a table in an article.
enum ListTable {
    private enum Fate: String, CaseIterable {
        case key = "taken as a key of the job, or as a part of it"
        case anyway = "so anyway"
        case leftOut = "left out, and told"
        case fault = "an error, with what to do instead"
        case secret = "an error: a secret is named by an option"
    }

    static var markdown: String {
        let curl = CurlOptions.all.map { (name: $0.name, fate: fate(of: $0)) }
        let own = JobFileReader.listOptions.map { (name: $0, fate: Fate.key) }
        let aria2 =
            own
            + Aria2Options.names.compactMap { name in
                Aria2Options.meaning(of: name).map { (name: name, fate: fate(of: $0)) }
            }
        var text = "| list | options | are |\n| --- | --- | --- |\n"
        for (tool, options) in [("curl", curl), ("aria2", aria2)] {
            for fate in Fate.allCases {
                let names = options.filter { $0.fate == fate }.map { "`\($0.name)`" }.sorted()
                text += "| \(tool) | \(names.joined(separator: " ")) | \(fate.rawValue) |\n"
            }
        }
        return text
    }

    private static func fate(of option: CurlOption) -> Fate {
        if case .common(let meaning) = option.meaning { fate(of: meaning) } else { .key }
    }

    private static func fate(of meaning: ListMeaning) -> Fate {
        switch meaning {
        case .harmless: .anyway
        case .leftOut: .leftOut
        case .refused, .only: .fault
        case .secret: .secret
        case .text, .number, .amount, .flag, .header, .own: .key
        }
    }
}
