/// Uploads that others have taken the place of, and that their server is told to terminate beside these.
///
/// The result is of no matter to the upload; but it ends only after the requests were answered, so that none is forgotten.
struct TusSweep: Sendable, Hashable {
    /// On the server still, as far as is known.
    var urls: [String] = []
    /// The result of the upload, which waits.
    private(set) var result: UploadResult?
    private var requests: [Int: String] = [:]

    private static let most = 16

    var isIdle: Bool { requests.isEmpty }

    /// URLs that no request is under way for.
    var waiting: [String] { urls.filter { url in !requests.values.contains(url) } }

    mutating func add(_ url: String) { urls = Array((urls + [url]).suffix(Self.most)) }

    mutating func began(_ request: Int, _ url: String) { requests[request] = url }

    /// - Parameter isOver: Whether another request would change nothing.
    /// - Returns: Whether it was one of these.
    mutating func ended(_ request: Int, isOver: Bool) -> Bool {
        guard let url = requests.removeValue(forKey: request) else { return false }
        if isOver { urls.removeAll { $0 == url } }
        return true
    }

    /// - Returns: What can be told now.
    mutating func finish(_ result: UploadResult) -> UploadResult? {
        if isIdle { return result }
        self.result = result
        return nil
    }

    mutating func stop() -> [Int] {
        defer { requests = [:] }
        return requests.keys.sorted()
    }
}
