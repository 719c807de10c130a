import CTransferCurl
import CTransferFailpoint
import TransferCore

// The request's body, as libcurl's callbacks ask for it.
extension ActiveExchange {
    enum Provided {
        case bytes(Int)
        /// The next piece isn't there yet.
        case later
        /// The transfer is stopped.
        case failed
    }

    /// Fills the buffer with the next bytes of the request's body.
    func provideBody(_ buffer: UnsafeMutableRawBufferPointer) -> Provided {
        noteActivity()
        let count: Int
        switch body {
        case .none: count = 0
        case .bytes(let bytes):
            count = min(buffer.count, bytes.count - Int(outgoing.sent))
            bytes.withUnsafeBytes { source in
                buffer.copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: source[Int(outgoing.sent)..<Int(outgoing.sent) + count]))
            }
        case .part(let part):
            do throws(TransferError) {
                if part.isLast(buffer.count, at: outgoing.sent) {
                    guard try mayGiveTheLast(part) else {
                        pace.holds.insert(.source)
                        return .later
                    }
                }
                count = try part.read(into: buffer, at: outgoing.sent)
            } catch {
                stopReason = .failed(error)
                return .failed
            }
        case .stream, .window:
            guard let feeder else { return .failed }
            switch feeder.provide(buffer) {
            case .success(let provided?): count = provided
            case .success(nil):
                pace.holds.insert(.body)
                return .later
            case .failure(let error):
                stopReason = .failed(error)
                return .failed
            }
        }
        outgoing.sent += Int64(count)
        meter.update(sent: outgoing.sent)
        throttle(count)
        Failpoint.reached(.bodyProvided)
        if outgoing.sent == body.length { Failpoint.reached(.bodyComplete) }
        return .bytes(count)
    }

    /// Whether the file still is what was sent of it.
    ///
    /// - Returns: `false` where somebody else finds that out first, as all of it has to be read again.
    /// - Throws: `sourceChanged`.
    private func mayGiveTheLast(_ part: SourcePart) throws(TransferError) -> Bool {
        switch part.file.look() {
        case .same: return true
        case .other: throw part.changed
        case .touched, .retimed:
            // A loop of file servers may wait.
            guard files == nil else {
                guard part.file.hasWhatWasSent() else { throw part.changed }
                return true
            }
            guard !outgoing.isSourceOther, let compareSource else { throw part.changed }
            compareSource(part.file)
            return false
        }
    }

    /// The body, where it leaves together with the head.
    ///
    /// - Throws: `sourceChanged`.
    func bodyToJoin(_ hop: Hop) throws(TransferError) -> [UInt8]? {
        guard request.settings.joinsSmallBodies, hop.sendsBody, !hop.mayExpect, limiters.isEmpty,
            pace.holds.isEmpty, let length = body.length, length > 0, length <= Self.joinLimit
        else { return nil }
        switch body {
        case .bytes(let bytes): return bytes
        case .part(let part): return try part.bytes()
        case .none, .stream, .window: return nil
        }
    }

    /// Bytes; libcurl copies them twice.
    private static let joinLimit: Int64 = 16 << 10

    /// Counts the bytes that left, in place of those that libcurl took: of SFTP's the acknowledged ones.
    func settleSent() {
        guard let handle else { return }
        if outgoing.isJoined {
            outgoing.sent = max(outgoing.sent, handle.offset(CURLINFO_SIZE_UPLOAD_T))
        } else if let files, files.sends {
            outgoing.sent = min(outgoing.sent, handle.offset(CURLINFO_SIZE_UPLOAD_T))
        } else {
            return
        }
        meter.update(sent: outgoing.sent)
    }

    /// libcurl wants to send the body again from `offset`. Returns whether that can be done.
    func rewindBody(to offset: Int64) -> Bool {
        // Without an answer it's libcurl's own idea, as the connection died.
        let rule = RepeatRule(method: hop?.method ?? request.method, resendsBody: request.settings.resendsBody)
        if answer.status == 0, outgoing.sent > offset, !rule.allows(true) { return false }
        if let feeder, hop?.replacedBody == nil {
            guard offset == 0 else { return false }
            feeder.rewind()
        }
        outgoing.sent = offset
        meter.update(sent: offset)
        return true
    }
}
