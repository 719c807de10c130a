import TransferCore

/// Takes a body out of its chunks (RFC 9112 §7.1). Extensions and trailers are read over.
struct ChunkReader: Equatable {
    private enum State: Equatable {
        /// The line with the size, of which so many digits have come.
        case size(Int64, digits: Int)
        /// The rest of that line.
        case extras(Int64)
        case data(Int64)
        /// The line end behind a chunk's data.
        case dataEnd
        /// The trailers and the empty line behind them; whether anything is in the line.
        case trailers(isEmpty: Bool)
    }

    private var state = State.size(0, digits: 0)
    /// Bytes behind the size in the line of this chunk, or of the trailers.
    private var extras = 0
    /// Bytes of either: they are read over, and mustn't go on for ever.
    private static let extrasLimit = 64 << 10

    mutating func next(
        _ bytes: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(TransferError) -> AnswerReader.Step {
        while position < bytes.count {
            if case .data(let left) = state {
                let count = Int(min(left, Int64(bytes.count - position)))
                defer { position += count }
                state = left == Int64(count) ? .dataEnd : .data(left - Int64(count))
                return .body(position..<position + count)
            }
            let byte = bytes[position]
            position += 1
            if try take(byte) { return .end }
        }
        return .more
    }

    /// - Returns: Whether that was the last one.
    private mutating func take(_ byte: UInt8) throws(TransferError) -> Bool {
        switch state {
        case .data: break
        case .size(let size, let digits):
            if let digit = Self.digit(byte) {
                // 15 digits are more than anybody has bytes.
                guard digits < 15 else { throw .badChunk }
                state = .size(size << 4 | digit, digits: digits + 1)
            } else {
                guard digits > 0 else { throw .badChunk }
                state = .extras(size)
                return try take(byte)
            }
        case .extras(let size):
            guard byte == 0x0A else {
                try countExtra()
                break
            }
            extras = 0
            state = size == 0 ? .trailers(isEmpty: true) : .data(size)
        case .dataEnd:
            if byte == 0x0A { state = .size(0, digits: 0) } else if byte != 0x0D { throw .badChunk }
        case .trailers(let isEmpty):
            if byte == 0x0A {
                state = .trailers(isEmpty: true)
                return isEmpty
            }
            if byte != 0x0D { state = .trailers(isEmpty: false) }
            try countExtra()
        }
        return false
    }

    private mutating func countExtra() throws(TransferError) {
        extras += 1
        guard extras <= Self.extrasLimit else { throw .badChunk }
    }

    private static func digit(_ byte: UInt8) -> Int64? {
        switch byte {
        case 0x30...0x39: Int64(byte - 0x30)
        case 0x41...0x46, 0x61...0x66: Int64((byte | 0x20) - 0x61 + 10)
        default: nil
        }
    }
}

extension TransferError {
    fileprivate static let badChunk = TransferError(
        .badResponse, "not an HTTP answer: its body isn't in chunks", isTransient: true)
}
