/// The place that set a value of the configuration.
public struct ConfigurationPlace: Sendable, Hashable, CustomStringConvertible {
    /// The file's path, or the name of a source that is not a file.
    public var file: String
    /// The line, counted from 1; 0 without a file.
    public var line: Int
    /// The column in characters, counted from 1; 0 without a file.
    public var column: Int

    /// Creates a place; `line` and `column` count from 1 and are 0 without a file.
    public init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }

    /// The program's own default, in force where nothing else sets a value.
    public static let builtIn = ConfigurationPlace(file: "built in", line: 0, column: 0)

    /// Returns the place for an environment variable.
    public static func variable(_ name: String) -> ConfigurationPlace {
        ConfigurationPlace(file: "$" + name, line: 0, column: 0)
    }

    /// The place as `FILE:LINE`, a form that editors understand.
    public var description: String { line > 0 ? "\(file):\(line)" : file }
}
