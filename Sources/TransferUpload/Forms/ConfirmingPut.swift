import TransferCore

/// A PUT after an earlier attempt of which all, a part or nothing may have arrived: its answer was lost, or its process
/// died. The server is asked what it has (``RemoteCopy``), and the file is sent only if that isn't the file: never in silence,
/// where it may be there all the same.
public struct ConfirmingPut: UploadDialogue {
    static let kind = "put"

    private let url: String
    /// `nil` once the file is being sent.
    private var copy: RemoteCopy?
    private var otherwise: any UploadDialogue

    /// - Parameters:
    ///   - state: What ``state(began:)`` gave.
    ///   - otherwise: How the file is sent if it isn't there; one request where there is none.
    /// - Returns: `nil` for the state of another protocol.
    public init?(
        url: String, method: String = "PUT", source: UploadSource, state: UploadState,
        otherwise: (any UploadDialogue)? = nil
    ) {
        guard Self.isState(state), let began = Int64(state.payload) else { return nil }
        self.url = url
        copy = RemoteCopy(url: url, source: source, began: began)
        self.otherwise = otherwise ?? PlainPut(url: url, method: method, source: source)
    }

    /// The state to keep of an attempt of which all may have arrived.
    ///
    /// - Parameter began: Seconds since 1970, by this machine's clock.
    public static func state(began: Int64) -> UploadState {
        UploadState(kind: kind, canAsk: true, isHeld: false, payload: String(began))
    }

    static func state(earlier text: String) -> UploadState? {
        UploadState.payload(of: text, after: "put:").map {
            UploadState(kind: kind, canAsk: true, isHeld: false, payload: $0)
        }
    }

    public static func isState(_ state: UploadState) -> Bool { state.kind == kind }

    public mutating func begin(now: Int64) -> [UploadAction] { copy?.begin(now: now) ?? [] }

    public mutating func handle(_ event: UploadEvent, now: Int64) -> [UploadAction] {
        guard var asking = copy else { return otherwise.handle(event, now: now) }
        let step = asking.handle(event, now: now)
        copy = asking
        switch step {
        case .perform(let actions): return actions
        case .found(.failed(let error)): return [.fail(error)]
        case .found(.same(let answer, let digest)):
            return [
                .finish(
                    UploadResult(
                        url: answer.url, status: answer.head.status, validator: Validator(answer.head)?.description,
                        digest: digest))
            ]
        case .found(.missing): return sendAgain("the server has nothing there", now)
        case .found(.other): return sendAgain("the server has something else, or nothing that tells it apart", now)
        case .found(.unknown(let answer)) where isAnsweredLater(answer.head.status):
            return [.fail(StatusRule.error(answer.head, now: now))]
        case .found(.unknown(let answer)): return sendAgain("the server doesn't tell (\(answer.head.status))", now)
        }
    }

    /// Whether the question may be answered later: to send the file before that would be to send it once more each time.
    private func isAnsweredLater(_ status: Int) -> Bool { status == 429 || DeliveryRule.leavesOpen(status) }

    /// A PUT of the same file changes nothing where it was taken, so that it's repeated; but not in silence.
    private mutating func sendAgain(_ reason: String, _ now: Int64) -> [UploadAction] {
        copy = nil
        return [.restart("an earlier attempt may have sent it, and \(reason)")] + otherwise.begin(now: now)
    }

    /// There is nothing that a server would hold.
    public mutating func abandon(now: Int64) -> [UploadAction] { [.finish(UploadResult(url: url, status: 0))] }
}
