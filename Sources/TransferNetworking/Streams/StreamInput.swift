public import Foundation

extension DataStreamRequest {
    /// Returns the response as a stream to read from. A read waits for bytes, and must not be on the session's own
    /// queues.
    ///
    /// Data is fetched only as it is read; the stream holds half a MiB at most.
    ///
    /// - Parameter bufferSize: A value without effect, as pieces are not copied.
    /// - Returns: The stream, never `nil`; Alamofire's signature has the optional.
    public func asInputStream(bufferSize: Int = 1024) -> InputStream? {
        let source = StreamInputSource()
        consume {
            source.append($0)
        } ended: { completion in
            source.finish(completion.error)
        }
        return StreamInput(source)
    }
}

/// An input stream that is filled by the network.
final class StreamInput: InputStream {
    private let source: StreamInputSource

    init(_ source: StreamInputSource) {
        self.source = source
        super.init(data: Data())
    }

    // A released stream is not read again.
    deinit { source.set(.closed) }

    override func open() { source.set(.open) }
    override func close() { source.set(.closed) }
    override var streamStatus: Status { source.status }
    override var streamError: (any Error)? { source.error }
    override var hasBytesAvailable: Bool { source.hasBytesAvailable }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
        source.read(buffer, maxLength: length)
    }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length: UnsafeMutablePointer<Int>
    ) -> Bool { false }
}

/// The data of a stream, until they are read.
///
/// `@unchecked Sendable`: the condition guards all properties.
final class StreamInputSource: @unchecked Sendable {
    private enum End { case ended, failed(any Error) }

    private let condition = NSCondition()
    private var pieces: [StreamPiece] = []
    /// The number of bytes of the first piece that were read.
    private var taken = 0
    private var end: End?
    private var state = Stream.Status.notOpen

    private func locked<Value>(_ body: () -> Value) -> Value {
        condition.lock()
        defer {
            condition.broadcast()
            condition.unlock()
        }
        return body()
    }

    func append(_ piece: StreamPiece) {
        // Data for a closed stream is dropped, so that the request ends.
        locked {
            guard state != .closed else { return }
            // The program reads at its own pace, so that the end of the stream does not wait for the piece's turn.
            pieces.append(StreamPiece(data: piece.data, token: piece.token))
        }
    }

    func finish(_ error: AFError?) { locked { end = error.map { .failed($0) } ?? .ended } }

    func set(_ new: Stream.Status) {
        let dropped = locked { () -> [StreamPiece] in
            state = new
            return new == .closed ? pieces.take() : []
        }
        withExtendedLifetime(dropped) {}
    }

    var status: Stream.Status { locked { state } }

    var error: (any Error)? {
        locked {
            if case .failed(let error) = end { return error }
            return nil
        }
    }

    /// Whether a read returns bytes, or may do so, as only a read can find the end.
    var hasBytesAvailable: Bool { locked { end == nil ? state == .open : !pieces.isEmpty } }

    /// Reads bytes, and waits for them if necessary.
    ///
    /// - Returns: The number of bytes, 0 at the end, −1 on failure.
    func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
        let (count, done) = locked { take(buffer, length) }
        withExtendedLifetime(done) {}
        return count
    }

    private func take(_ buffer: UnsafeMutablePointer<UInt8>, _ length: Int) -> (Int, StreamPiece?) {
        guard state == .open, length > 0 else { return (state == .atEnd ? 0 : -1, nil) }
        while pieces.isEmpty {
            switch end {
            case nil: condition.wait()
            case .ended:
                state = .atEnd
                return (0, nil)
            case .failed:
                state = .error
                return (-1, nil)
            }
            // The stream may have been closed on another thread meanwhile.
            if state != .open { return (-1, nil) }
        }
        let data = pieces[0].data
        let count = min(length, data.count - taken)
        let start = data.startIndex + taken
        data.copyBytes(to: buffer, from: start..<start + count)
        taken += count
        guard taken == data.count else { return (count, nil) }
        taken = 0
        return (count, pieces.removeFirst())
    }
}
