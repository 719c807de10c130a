/// The writer of a planned response, with its faults.
struct ResponseWriter {
    let plan: ResponsePlan
    let method: String
    let socket: Socket
    let output: ConnectionOutput
    /// A closure that waits until the client disconnects (which throws) or the test releases the connection.
    let hold: () throws -> Void
    let sent: (Int64) -> Void

    /// Writes the response.
    ///
    /// - Returns: Whether the connection can serve another request.
    func write() throws -> Bool {
        for interim in plan.interim { try output.write(ResponsePlan.text(interim.status, interim.headers)) }
        switch plan.opening {
        case .nothing(let mark):
            try output.flush()
            return try perform(mark)
        case .raw(let bytes):
            try output.write(bytes[...])
            try output.flush()
            return false
        case .heldHead:
            try output.flush()
            try hold()
        case .head: break
        }
        try output.write(plan.headText(for: method))
        if plan.hasBody(for: method) {
            guard try writeBody() else { return false }
        } else if let mark = plan.marks.first {
            try output.flush()
            guard try perform(mark.mark) else { return false }
        }
        try output.flush()
        return !plan.endsConnection
    }

    private func writeBody() throws -> Bool {
        let total = plan.bodyCount
        var marks = plan.marks[...]
        var offset: Int64 = 0
        var chunkEnd: Int64 = 0
        for piece in plan.body {
            var done: Int64 = 0
            while done < piece.count {
                guard try passMarks(&marks, at: offset) else { return false }
                if case .chunked(let size) = plan.framing, offset == chunkEnd {
                    let chunk = min(Int64(max(1, size)), total - offset)
                    chunkEnd = offset + chunk
                    try output.write("\(String(chunk, radix: 16))\r\n")
                }
                var limit = piece.count - done
                if let mark = marks.first { limit = min(limit, mark.offset - offset) }
                if case .chunked = plan.framing { limit = min(limit, chunkEnd - offset) }
                if let pace = plan.pace { limit = min(limit, Int64(pace.bytes)) }
                let size = Int64(try output.fill(upTo: limit) { piece.copy(from: done, into: $0) })
                done += size
                offset += size
                sent(size)
                if case .chunked = plan.framing, offset == chunkEnd { try output.write("\r\n") }
                try pauseForPace(unless: offset == total)
            }
        }
        // With marks at or after the end, everything is sent except the end of the body.
        while let mark = marks.popFirst() {
            try output.flush()
            guard try perform(mark.mark) else { return false }
        }
        if case .chunked = plan.framing { try output.write("0\r\n\r\n") }
        return true
    }

    private func passMarks(_ marks: inout ArraySlice<(offset: Int64, mark: ResponsePlan.Mark)>, at offset: Int64) throws
        -> Bool
    {
        while let mark = marks.first, mark.offset <= offset {
            marks.removeFirst()
            try output.flush()
            guard try perform(mark.mark) else { return false }
        }
        return true
    }

    private func perform(_ mark: ResponsePlan.Mark) throws -> Bool {
        switch mark {
        case .cut: return false
        case .reset:
            socket.resetOnClose()
            return false
        case .stall:
            try hold()
            return true
        }
    }

    /// Waits between pieces. The interval is part of the requested fault; the wait on the socket also ends when the
    /// client disconnects or the server stops.
    private func pauseForPace(unless isLast: Bool) throws {
        guard let pace = plan.pace, !isLast else { return }
        try output.flush()
        if case .left = socket.waitForDeparture(timeout: pace.interval) { throw ConnectionEnded() }
    }
}

extension ResponsePlan.Piece {
    fileprivate func copy(from offset: Int64, into buffer: UnsafeMutableRawBufferPointer) {
        switch self {
        case .bytes(let bytes): buffer.copyBytes(from: bytes[Int(offset)..<Int(offset) + buffer.count])
        case .slice(let content, let range): content.copy(from: range.lowerBound + offset, into: buffer)
        }
    }
}
