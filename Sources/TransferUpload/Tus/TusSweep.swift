/// The replaced uploads that the server is to terminate while their successors are sent.
///
/// The results do not affect the upload. But it ends only after the requests were answered, so that no replaced upload
/// is forgotten.
struct TusSweep: Sendable, Hashable {
    /// The replaced uploads that are still on the server, by the known answers.
    var urls: [String] = []
    /// The result of the upload, which waits.
    private(set) var result: UploadResult?
    private var requests: [Int: String] = [:]

    private static let most = 16

    var isIdle: Bool { requests.isEmpty }

    /// The URLs without a request under way.
    var waiting: [String] { urls.filter { url in !requests.values.contains(url) } }

    mutating func add(_ url: String) { urls = Array((urls + [url]).suffix(Self.most)) }

    mutating func began(_ request: Int, _ url: String) { requests[request] = url }

    /// Notes the end of a request.
    ///
    /// - Parameter isOver: Whether another request would change nothing.
    /// - Returns: Whether the request was one of the terminations.
    mutating func ended(_ request: Int, isOver: Bool) -> Bool {
        guard let url = requests.removeValue(forKey: request) else { return false }
        if isOver { urls.removeAll { $0 == url } }
        return true
    }

    /// Ends the upload.
    ///
    /// - Returns: The result that can be reported now.
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
