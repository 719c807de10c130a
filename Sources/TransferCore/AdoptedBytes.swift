/// The bytes of a file left by another tool with which a download began.
public struct AdoptedBytes: Sendable, Hashable, Codable {
    /// The path of the other tool's file.
    public var path: String
    /// The number of bytes.
    public var count: Int64

    /// Creates a value for a number of bytes of a file.
    public init(path: String, count: Int64) {
        self.path = path
        self.count = count
    }
}
