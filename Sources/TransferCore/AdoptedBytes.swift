/// Bytes of a file that another tool has left, with which a download began.
public struct AdoptedBytes: Sendable, Hashable, Codable {
    public var path: String
    public var count: Int64

    public init(path: String, count: Int64) {
        self.path = path
        self.count = count
    }
}
