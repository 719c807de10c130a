/// The number of simultaneous transfers to one host.
public enum PerHost: Sendable, Hashable, ExpressibleByIntegerLiteral {
    /// A number that adapts: 10 at first (8 at servers of files), then up to 64 while more transfers are faster
    /// together. The number is halved where the server refuses requests (429, 503) or connections are reset.
    case automatic
    /// A fixed number, 1 to 10,000.
    case exactly(Int)

    /// Creates a fixed number, 1 to 10,000.
    public init(integerLiteral number: Int) { self = .exactly(number) }

    /// Parses a number, or `auto`, as written on a command line; `nil` for any other text.
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
