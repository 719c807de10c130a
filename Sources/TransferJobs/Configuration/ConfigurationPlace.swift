/// Where a value of the configuration stands.
public struct ConfigurationPlace: Sendable, Hashable, CustomStringConvertible {
    /// The file's path, or the name of what isn't a file.
    public var file: String
    /// Counted from 1; 0 where there is no file.
    public var line: Int
    /// In characters, counted from 1; 0 where there is no file.
    public var column: Int

    public init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }

    /// What the program does where nobody says anything.
    public static let builtIn = ConfigurationPlace(file: "built in", line: 0, column: 0)

    /// A variable of the environment.
    public static func variable(_ name: String) -> ConfigurationPlace {
        ConfigurationPlace(file: "$" + name, line: 0, column: 0)
    }

    /// `FILE:LINE`, as editors take it.
    public var description: String { line > 0 ? "\(file):\(line)" : file }
}
