import TransferCore

/// The decoder of zstd (RFC 8878), by Facebook's library (zstd.h).
final class ZstandardLayer: CodingLayer {
    /// The layout that ZSTD_inBuffer and ZSTD_outBuffer share.
    private struct Buffer {
        var bytes: UnsafeMutableRawPointer?
        var size: Int
        var position = 0
    }

    private struct Functions: Sendable {
        typealias Create = @convention(c) @Sendable () -> OpaquePointer?
        typealias Destroy = @convention(c) @Sendable (OpaquePointer?) -> Int
        typealias Decode =
            @convention(c) @Sendable (OpaquePointer, UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Int
        typealias IsError = @convention(c) @Sendable (Int) -> UInt32
        typealias SetParameter = @convention(c) @Sendable (OpaquePointer, Int32, Int32) -> Int

        let create: Create
        let destroy: Destroy
        let decode: Decode
        let isError: IsError
        let set: SetParameter

        init?() {
            guard let library = SharedLibrary("libzstd.so.1"),
                let create = library.function("ZSTD_createDStream", as: Create.self),
                let destroy = library.function("ZSTD_freeDStream", as: Destroy.self),
                let decode = library.function("ZSTD_decompressStream", as: Decode.self),
                let isError = library.function("ZSTD_isError", as: IsError.self),
                let set = library.function("ZSTD_DCtx_setParameter", as: SetParameter.self)
            else { return nil }
            (self.create, self.destroy, self.decode, self.isError, self.set) = (create, destroy, decode, isError, set)
        }
    }

    private static let functions = Functions()
    static var isAvailable: Bool { functions != nil }

    /// The parameter ZSTD_d_windowLogMax. RFC 9659: a sender may ask for 8 MiB of memory, and no more.
    private static let (windowParameter, windowLimit): (Int32, Int32) = (100, 23)

    private let functions: Functions
    private let stream: OpaquePointer
    private(set) var isAtEnd = false
    let name = "zstd"

    init() throws(TransferError) {
        guard let functions = Self.functions, let stream = functions.create() else {
            throw TransferError(.internalFault, "zstd cannot be initialised", isTransient: true)
        }
        (self.functions, self.stream) = (functions, stream)
        _ = functions.set(stream, Self.windowParameter, Self.windowLimit)
    }

    deinit { _ = functions.destroy(stream) }

    func step(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(TransferError) -> CodingStep {
        // The decoder would begin another frame if it were called again at the end of one.
        guard !isAtEnd || !input.isEmpty else { return CodingStep(consumed: 0, produced: 0) }
        var source = Buffer(bytes: UnsafeMutableRawPointer(mutating: input.baseAddress), size: input.count)
        var target = Buffer(bytes: output.baseAddress, size: output.count)
        let result = functions.decode(stream, &target, &source)
        guard functions.isError(result) == 0 else { throw .undecodable("its zstd stream is damaged") }
        // 0 means that a frame is completely decoded and written. Other frames may follow it (RFC 8878 §3).
        isAtEnd = result == 0
        return CodingStep(consumed: source.position, produced: target.position)
    }
}
