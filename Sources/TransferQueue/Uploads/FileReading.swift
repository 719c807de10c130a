import CTransferLinux
import Glibc
import TransferCore
import TransferCrypto
import TransferEngine

/// What one reading of a file tells: its digest, the sums of its pieces, and which pieces aren't as digests say. Blocks: for
/// workers.
struct FileReading {
    let size: Int64
    /// By the algorithm that was asked for.
    private(set) var digest: Checksum?
    let sums: PieceSumList?
    /// Pieces, by their numbers, that are other ones or missing.
    private(set) var wrongPieces: [Int] = []

    static func sums(_ path: String) throws(TransferError) -> PieceSumList? { try FileReading(path).sums }

    /// - Parameter isStopped: Asked on the way, as a large file takes long.
    /// - Throws: What the system says; `cancelled` when it's to stop.
    init(
        _ path: String, algorithm: DigestAlgorithm? = nil, pieces: PieceDigests? = nil,
        isStopped: () -> Bool = { false }
    ) throws(TransferError) {
        // A FIFO isn't waited for.
        let descriptor = transfer_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0)
        guard descriptor >= 0 else { throw .file("read", path, errno) }
        defer { close(descriptor) }
        posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        let sums = PieceSums()
        var judge = pieces.map { PieceJudge($0) }
        var offset: Int64 = 0
        do {
            let whole = try algorithm.map { try Digest($0) }
            while true {
                if isStopped() { throw TransferError(.cancelled, "nobody waits for the file's digest any more") }
                let count = read(descriptor, buffer.baseAddress, buffer.count)
                if count == 0 { break }
                guard count > 0 else {
                    if errno == EINTR { continue }
                    throw TransferError.file("read", path, errno)
                }
                let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                whole?.update(bytes)
                sums.add(bytes, at: offset)
                try judge?.add(bytes)
                offset += Int64(count)
            }
            digest = try whole?.finish()
            wrongPieces = try judge?.finish() ?? []
        } catch {
            throw error as? TransferError ?? TransferError(.internalFault, "\(error)")
        }
        size = offset
        self.sums = sums.list(of: offset)
    }
}

/// Compares the pieces of a file with their digests, as its bytes pass.
private struct PieceJudge {
    private let pieces: PieceDigests
    private var number = 0
    private var left: Int64
    private var digest: Digest?
    private var wrong: [Int] = []

    init(_ pieces: PieceDigests) {
        self.pieces = pieces
        left = pieces.length
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes
        while !rest.isEmpty, number < pieces.digests.count {
            if digest == nil { digest = try Digest(pieces.algorithm) }
            let count = Int(min(Int64(rest.count), left))
            digest?.update(UnsafeRawBufferPointer(rebasing: rest[..<count]))
            left -= Int64(count)
            if left == 0 { try endPiece() }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    mutating func finish() throws -> [Int] {
        if digest != nil { try endPiece() }
        return wrong + Array(number..<pieces.digests.count)
    }

    private mutating func endPiece() throws {
        if try digest?.finish() != pieces.digests[number] { wrong.append(number) }
        digest = nil
        number += 1
        left = pieces.length
    }
}
