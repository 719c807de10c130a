import Foundation
import Synchronization
import TransferCore
import TransferEngine

/// A request's body as the stream by which a URL request carries a body outside the memory.
///
/// Mutable state is protected by a lock; reads of one stream wait for each other.
final class BodyInputStream: InputStream {
    private enum State {
        case closed
        case open(any BodyReader)
        case part(SourcePart, at: Int64)
        case atEnd
        case failed(TransferError)
        case over
    }

    private let body: RequestBody
    private let reading = Mutex(State.closed)

    init(_ body: RequestBody) {
        self.body = body
        super.init(data: Data())
    }

    override func open() {
        reading.withLock { state in
            guard case .closed = state else { return }
            switch body {
            case .none: state = .atEnd
            case .bytes(let bytes): state = .open(ByteReader(bytes))
            case .part(let part): state = .part(part, at: 0)
            case .stream(let stream):
                do throws(TransferError) { state = .open(try stream.open()) } catch { state = .failed(error) }
            case .window:
                state = .failed(TransferError(.internalFault, "a copy is not carried by a URLProtocol"))
            }
        }
    }

    override func close() {
        reading.withLock { state in
            if case .open(let reader) = state { reader.close() }
            state = .over
        }
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
        let target = UnsafeMutableRawBufferPointer(start: buffer, count: length)
        return reading.withLock { state in
            do throws(TransferError) {
                let count: Int
                switch state {
                case .closed, .failed: return -1
                case .atEnd, .over: return 0
                case .open(let reader):
                    count = try reader.read(into: target)
                    if count == 0 {
                        reader.close()
                        state = .atEnd
                    }
                case .part(let part, let place):
                    count = try part.read(into: target, at: place)
                    state = count == 0 ? .atEnd : .part(part, at: place + Int64(count))
                }
                return count
            } catch {
                state = .failed(error)
                return -1
            }
        }
    }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    override var hasBytesAvailable: Bool {
        reading.withLock { state in
            switch state {
            case .open, .part: true
            case .closed, .atEnd, .failed, .over: false
            }
        }
    }

    override var streamStatus: Status {
        reading.withLock { state in
            switch state {
            case .closed: .notOpen
            case .open, .part: .open
            case .atEnd: .atEnd
            case .failed: .error
            case .over: .closed
            }
        }
    }

    override var streamError: (any Error)? {
        reading.withLock { state in
            if case .failed(let error) = state { error } else { nil }
        }
    }
}

/// A reader of bytes in memory.
private final class ByteReader: BodyReader {
    private let bytes: [UInt8]
    private let place = Mutex(0)

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransferError) -> Int {
        place.withLock { place in
            let count = min(buffer.count, bytes.count - place)
            buffer.copyBytes(from: bytes[place..<place + count])
            place += count
            return count
        }
    }

    func close() {}
}
