/// Where a value of the configuration stands.
public struct ConfigurationPlace: Sendable, Hashable, CustomStringConvertible {
    /// The file's path.
    public var file: String
    /// Counted from 1.
    public var line: Int
    /// In characters, counted from 1.
    public var column: Int

    public init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }

    /// `FILE:LINE`, as editors take it.
    public var description: String { "\(file):\(line)" }
}

/// A value of the configuration that isn't an object of its own, with the place that it comes from.
public struct ConfigurationEntry: Sendable, Hashable {
    /// The keys that lead to it, such as `["retry", "limit"]`.
    public var path: [String]
    /// JSON; secrets are named in it and never written.
    public var value: String
    public var place: ConfigurationPlace
}
