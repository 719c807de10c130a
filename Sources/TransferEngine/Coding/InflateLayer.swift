import CTransferZlib
import TransferCore

/// The decoder of gzip (RFC 1952) and deflate (RFC 9110 §8.4.1.2), by zlib.
final class InflateLayer: CodingLayer {
    enum Kind { case gzip, deflate }

    private enum Phase {
        /// The wrapping is still unknown; a first byte may have come.
        case start(UInt8?)
        case inflating
        case ended
    }

    private let kind: Kind
    private var phase: Phase
    // zlib's state points back to the stream, so the stream must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    private var isOpen = false

    init(_ kind: Kind) throws(TransferError) {
        self.kind = kind
        phase = .start(nil)
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        if kind == .gzip {
            try open(MAX_WBITS + 16)
            phase = .inflating
        }
    }

    deinit {
        if isOpen { inflateEnd(stream) }
        stream.deallocate()
    }

    var name: String { kind == .gzip ? "gzip" : "deflate" }

    var isAtEnd: Bool {
        if case .ended = phase { return true }
        return false
    }

    func step(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(TransferError) -> CodingStep {
        switch phase {
        case .start(let first):
            guard let byte = input.first else { return CodingStep(consumed: 0, produced: 0) }
            guard let first else {
                phase = .start(byte)
                return CodingStep(consumed: 1, produced: 0)
            }
            // Some servers send the bare stream of RFC 1951 in place of zlib's. RFC 1950 §2.2 shows how to distinguish
            // them.
            let isWrapped = first & 0x0F == 8 && first >> 4 <= 7 && (Int(first) << 8 | Int(byte)) % 31 == 0
            try open(isWrapped ? MAX_WBITS : -MAX_WBITS)
            phase = .inflating
            let head = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
            defer { head.deallocate() }
            head[0] = first
            // No symbol of a stream ends within its first byte: there is no output yet.
            _ = try inflate(UnsafeRawBufferPointer(head), into: output)
            return try inflate(input, into: output)
        case .inflating: return try inflate(input, into: output)
        case .ended:
            guard !input.isEmpty else { return CodingStep(consumed: 0, produced: 0) }
            // A gzip file may have several members (RFC 1952 §2.2).
            guard kind == .gzip, input.first == 0x1F, inflateReset(stream) == Z_OK else {
                throw .undecodable("there are bytes after the end of its \(name) stream")
            }
            phase = .inflating
            return try inflate(input, into: output)
        }
    }

    private func inflate(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(TransferError) -> CodingStep {
        let count = min(input.count, 1 << 30)
        // zlib only reads the input; the pointer is not const in builds without ZLIB_CONST.
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(count)
        stream.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
        stream.pointee.avail_out = UInt32(output.count)
        let code = CTransferZlib.inflate(stream, Z_NO_FLUSH)
        switch code {
        // Z_BUF_ERROR: there was nothing to do.
        case Z_OK, Z_BUF_ERROR: break
        case Z_STREAM_END: phase = .ended
        default:
            let words = stream.pointee.msg.map { String(cString: $0) } ?? "error \(code)"
            throw .undecodable("its \(name) stream is damaged (\(words))")
        }
        return CodingStep(
            consumed: count - Int(stream.pointee.avail_in), produced: output.count - Int(stream.pointee.avail_out))
    }

    private func open(_ windowBits: Int32) throws(TransferError) {
        guard transfer_inflate_init(stream, windowBits) == Z_OK else {
            throw TransferError(.internalFault, "zlib cannot be initialised", isTransient: true)
        }
        isOpen = true
    }
}
