/// How many transfers are under way at once to one host.
public enum PerHost: Sendable, Hashable, ExpressibleByIntegerLiteral {
    /// As many as pay: 10 at first (8 at servers of files), more as long as that is faster, 64 at most. Half as many where
    /// the server refuses (429, 503) or connections are reset.
    case automatic
    /// That many, 1 to 10,000.
    case exactly(Int)

    public init(integerLiteral number: Int) { self = .exactly(number) }

    /// A number, or `auto`, as it is written on a command line; `nil` for anything else.
    package init?(text: String) {
        guard text != Self.automaticWord else {
            self = .automatic
            return
        }
        guard let number = Int(text), FieldRanges.concurrencies.contains(number) else { return nil }
        self = .exactly(number)
    }

    package static let automaticWord = "auto"

    package var text: String {
        switch self {
        case .automatic: Self.automaticWord
        case .exactly(let number): "\(number)"
        }
    }

    package var json: String { self == .automatic ? "\"\(text)\"" : text }
}
