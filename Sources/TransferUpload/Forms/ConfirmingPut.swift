import TransferCore

/// A PUT whose body left whole once before, and whose answer was lost: the server is asked whether it has the file, and
/// it's sent only if not.
///
/// What is there counts as ours when it has the source's size and was modified since that attempt began, by the server's
/// own clock (Last-Modified beside Date, RFC 9110 §8.8.2 and §6.6.1).
public struct ConfirmingPut: UploadDialogue {
    private static let mark = "put:"
    /// What clocks of seconds, and a server that is busy, may be off; in seconds.
    private static let tolerance: Int64 = 2

    private let url: String
    private let method: String
    private let source: UploadSource
    /// Seconds since 1970.
    private let began: Int64
    private var isSending = false

    /// - Parameter state: What ``state(began:)`` gave.
    /// - Returns: `nil` for the state of another protocol.
    public init?(url: String, method: String = "PUT", source: UploadSource, state: String) {
        guard state.hasPrefix(Self.mark), let began = Int64(state.dropFirst(Self.mark.count)) else { return nil }
        self.url = url
        self.method = method
        self.source = source
        self.began = began
    }

    /// What to keep of an attempt whose whole body left without an answer.
    ///
    /// - Parameter began: Seconds since 1970, by this machine's clock.
    public static func state(began: Int64) -> String { mark + String(began) }

    public mutating func begin(now: Int64) -> [UploadAction] { [.send(UploadRequest(id: 1, method: "HEAD", url: url))] }

    public mutating func handle(_ event: UploadEvent, now: Int64) -> [UploadAction] {
        switch event {
        case .interim, .digested: return []
        case .failed(_, let error, _): return [.fail(error)]
        case .answered(let answer) where isSending: return [PlainAnswer.end(answer, now: now)]
        case .answered(let answer):
            if isThere(answer.head, now: now) {
                return [
                    .finish(
                        UploadResult(
                            url: answer.url, status: answer.head.status,
                            validator: Validator(answer.head)?.description))
                ]
            }
            isSending = true
            return [.send(UploadRequest(id: 2, method: method, url: url, body: .source(0..<source.size)))]
        }
    }

    /// There is nothing that a server would hold.
    public mutating func abandon(now: Int64) -> [UploadAction] { [.finish(UploadResult(url: url, status: 0))] }

    private func isThere(_ head: ResponseHead, now: Int64) -> Bool {
        guard head.status == 200, head.contentLength == source.size, head.contentCoding == nil,
            let modified = head.value("Last-Modified").flatMap({ HTTPDate.parse($0) }),
            let date = head.value("Date").flatMap({ HTTPDate.parse($0) })
        else { return false }
        return date - modified <= now - began + Self.tolerance && modified <= date + Self.tolerance
    }
}
