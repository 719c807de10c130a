import FoundationEssentials
import Glibc
import Synchronization
import TransferCore
import TransferEngine

/// The places that the head and the body of one answer go to, while they come.
///
/// The loop of the exchange writes: it carries no other one, so that a slow reader delays nothing else.
final class AnswerOutput: Sendable {
    private struct State {
        /// The descriptor of the body; `nil` until it is opened, and for a body that is thrown away.
        var body: Int32?
        var position: Int64 = 0
        var isDropped = false
        /// Whether the reader of the body has enough, such as head(1).
        var isClosed = false
        /// The first fault of the head's places.
        var fault: TransferError?
    }

    private let answer: FrontAnswer
    private let output: FrontTransfer.Output
    /// The descriptor of the heads' file; `nil` for none.
    private let heads: Int32?
    private let state = Mutex(State())

    /// Creates the output of one attempt.
    ///
    /// - Parameter appends: Whether the line has written heads to the file before.
    /// - Throws: `Failure` when the file of the heads cannot be written.
    init(_ answer: FrontAnswer, to output: FrontTransfer.Output, appends: Bool) throws(Failure) {
        self.answer = answer
        self.output = output
        switch answer.headFile {
        case nil: heads = nil
        case "-"?, "/dev/stdout"?: heads = STDOUT_FILENO
        case let path?:
            let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (appends ? O_APPEND : O_TRUNC), 0o666)
            guard descriptor >= 0 else { throw Failure(.stateUnusable, Self.message(path)) }
            heads = descriptor
        }
    }

    deinit {
        let body = state.withLock { $0.body }
        for descriptor in [heads, body].compactMap(\.self) where descriptor > STDERR_FILENO { close(descriptor) }
    }

    var position: Int64 { state.withLock { $0.position } }
    /// Whether the body's reader ended before it did.
    var isClosed: Bool { state.withLock { $0.isClosed } }
    var fault: TransferError? { state.withLock { $0.fault } }

    /// Writes a line of a head.
    func head(_ line: UnsafeRawBufferPointer) {
        do throws(TransferError) {
            if let heads { _ = try Self.write(line, to: heads, answer.headFile ?? "") }
            guard answer.includesHead || answer.asksHead else { return }
            try state.withLock { state throws(TransferError) in try send(line, &state) }
        } catch {
            state.withLock { if $0.fault == nil { $0.fault = error } }
        }
    }

    /// Begins the body of the final answer.
    func begin(_ start: BodyStart) throws(TransferError) {
        try state.withLock { state throws(TransferError) in
            state.position = 0
            state.isDropped = answer.refusals == .dropped && start.head.status >= 400
            if !state.isDropped, !answer.asksHead { try open(&state) }
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(TransferError) {
        try state.withLock { state throws(TransferError) in
            state.position += Int64(bytes.count)
            if !state.isDropped { try send(bytes, &state) }
        }
    }

    /// Writes bytes to the body's place.
    ///
    /// - Throws: `TransferError` when they cannot be written, or the reader has enough.
    private func send(_ bytes: UnsafeRawBufferPointer, _ state: inout State) throws(TransferError) {
        try open(&state)
        guard let body = state.body else { return }
        guard try Self.write(bytes, to: body, name) else {
            state.isClosed = true
            throw TransferError(.fileAccess, "the reader of \(name) has ended")
        }
    }

    /// The words for the body's place.
    private var name: String {
        switch output {
        case .standardOutput: "standard output"
        case .discarded: "/dev/null"
        case .stream(let path), .file(let path), .folder(let path, _): path
        }
    }

    private func open(_ state: inout State) throws(TransferError) {
        guard state.body == nil else { return }
        let path: String
        switch output {
        case .standardOutput:
            state.body = STDOUT_FILENO
            return
        case .discarded: return
        case .stream(let file): path = file
        case .file(let file), .folder(let file, _):
            path = file
            if let slash = path.lastIndex(of: "/"), slash > path.startIndex {
                try? FileManager.default.createDirectory(
                    atPath: String(path[..<slash]), withIntermediateDirectories: true)
            }
        }
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw TransferError(.fileAccess, Self.message(path)) }
        state.body = descriptor
    }

    private static func message(_ path: String) -> String {
        "cannot write \(path): \(String(cString: strerror(errno)).lowercasedFirst)"
    }

    /// Writes a text. A reader that has ended is no error.
    ///
    /// - Throws: `TransferError`.
    static func write(_ text: String, to descriptor: Int32, _ name: String) throws {
        try Array(text.utf8).withUnsafeBytes { _ = try write($0, to: descriptor, name) }
    }

    /// Writes bytes.
    ///
    /// - Returns: Whether there is a reader for them.
    static func write(
        _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, _ name: String
    ) throws(TransferError) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count < 0 {
                if errno == EINTR { continue }
                if errno == EPIPE { return false }
                throw TransferError(.fileAccess, message(name))
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        return true
    }
}

/// The sink of an answer's body.
final class AnswerBody: BodySink {
    private let output: AnswerOutput

    init(_ output: AnswerOutput) { self.output = output }

    var position: Int64 { output.position }

    func begin(_ start: BodyStart) throws(TransferError) { try output.begin(start) }

    func write(_ bytes: UnsafeRawBufferPointer) throws(TransferError) { try output.write(bytes) }
}
