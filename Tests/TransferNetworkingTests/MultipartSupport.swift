import Foundation
import Synchronization
import TransferCore
import TransferEngine
import TransferTestSupport

@testable import TransferNetworking

/// A stream that follows a script, and records the requested lengths.
final class ScriptedStream: InputStream {
    private var pieces: [[UInt8]]
    private let endsBadly: Bool
    private(set) var opened = 0
    private(set) var closed = 0
    private(set) var largestRead = 0

    init(_ pieces: [[UInt8]], endsBadly: Bool = false) {
        self.pieces = pieces
        self.endsBadly = endsBadly
        super.init(data: Data())
    }

    convenience init(_ text: String) { self.init([Array(text.utf8)]) }

    override var hasBytesAvailable: Bool { !pieces.isEmpty }
    override func open() { opened += 1 }
    override func close() { closed += 1 }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
        largestRead = max(largestRead, length)
        guard let piece = pieces.first else { return endsBadly ? -1 : 0 }
        let count = min(piece.count, length)
        buffer.update(from: piece, count: count)
        if count == piece.count { pieces.removeFirst() } else { pieces[0] = Array(piece[count...]) }
        return count
    }
}

extension BodyReader {
    /// Reads to the end, `size` bytes at a time.
    func readAll(size: Int = 4096) throws(TransferError) -> Data {
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: size)
        while true {
            var failure: TransferError?
            let count = buffer.withUnsafeMutableBytes { room in
                do throws(TransferError) { return try read(into: room) } catch {
                    failure = error
                    return 0
                }
            }
            if let failure { throw failure }
            if count == 0 { return data }
            data.append(contentsOf: buffer[..<count])
        }
    }

    func readText(size: Int = 4096) throws(TransferError) -> String {
        String(decoding: try readAll(size: size), as: UTF8.self)
    }
}

extension MultipartFormData {
    func encodedText() throws -> String { String(decoding: try encode(), as: UTF8.self) }

    /// Returns the reason why encoding fails; `nil` if it succeeds, or fails with another error than an `AFError`.
    func encodingFailure() -> AFError.MultipartEncodingFailureReason? { multipartReason { _ = try encode() } }
}

/// Returns the reason why a form could not be encoded.
func multipartReason(_ body: () throws -> Void) -> AFError.MultipartEncodingFailureReason? {
    do { try body() } catch AFError.multipartEncodingFailed(let reason) { return reason } catch {}
    return nil
}

extension TemporaryFolder {
    func url(_ relative: String) -> URL { URL(fileURLWithPath: path(relative)) }
}
