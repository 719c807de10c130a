import TransferCore

/// A PUT after an earlier attempt whose answer was lost, or whose process died.
///
/// The server may have the whole file, a part or nothing, and is asked for it (``RemoteCopy``). The file is sent only
/// if it is not there, and a repetition is reported where the file may exist all the same.
public struct ConfirmingPut: UploadDialogue {
    static let kind = "put"

    private let url: String
    /// The query for the file; `nil` once the file is being sent.
    private var copy: RemoteCopy?
    private var otherwise: any UploadDialogue

    /// Creates a dialogue.
    ///
    /// - Parameters:
    ///   - state: The state that ``state(began:)`` returned.
    ///   - otherwise: The dialogue that sends the file if it is missing; by default a single request.
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

    /// Returns the state of an attempt whose bytes may all have arrived.
    ///
    /// - Parameter began: The begin in seconds since 1970, by the local clock.
    public static func state(began: Int64) -> UploadState {
        UploadState(kind: kind, canAsk: true, isHeld: false, payload: String(began))
    }

    static func state(earlier text: String) -> UploadState? {
        UploadState.payload(of: text, after: "put:").map {
            UploadState(kind: kind, canAsk: true, isHeld: false, payload: $0)
        }
    }

    /// Returns whether the state is one of this dialogue.
    public static func isState(_ state: UploadState) -> Bool { state.kind == kind }

    /// Returns the first actions.
    public mutating func begin(now: Int64) -> [UploadAction] { copy?.begin(now: now) ?? [] }

    /// Returns the actions that follow an event.
    public mutating func handle(_ event: UploadEvent, now: Int64) -> [UploadAction] {
        guard var asking = copy else { return otherwise.handle(event, now: now) }
        let step = asking.handle(event, now: now)
        copy = asking
        switch step {
        case .perform(let actions): return actions
        case .found(.failed(let error)): return [.fail(error)]
        case .found(.same(let answer, let digest)):
            var result = UploadResult(
                url: answer.url, status: answer.head.status, validator: Validator(answer.head)?.description,
                digest: digest)
            result.isFound = true
            return [.finish(result)]
        case .found(.missing): return sendAgain("the server has nothing there", now)
        case .found(.other): return sendAgain("the server has another file, or one that cannot be identified", now)
        case .found(.unknown(let answer)) where isAnsweredLater(answer.head.status):
            return [.fail(StatusRule.error(answer.head, now: now))]
        case .found(.unknown(let answer)):
            return sendAgain("the server does not report what it has (\(answer.head.status))", now)
        }
    }

    /// Returns whether the query may be answered later: sending the file before would repeat it each time.
    private func isAnsweredLater(_ status: Int) -> Bool { status == 429 || DeliveryRule.leavesOpen(status) }

    /// Sends the file again. A repeated PUT of the same file changes nothing, but the repetition is reported.
    private mutating func sendAgain(_ reason: String, _ now: Int64) -> [UploadAction] {
        copy = nil
        return [.restart("an earlier attempt may have sent it, and \(reason)")] + otherwise.begin(now: now)
    }

    /// Finishes at once, as the server holds nothing for the upload.
    public mutating func abandon(now: Int64) -> [UploadAction] { [.finish(UploadResult(url: url, status: 0))] }
}
