import TransferCore

/// The decoder of br (RFC 7932), by Google's library (brotli/decode.h).
final class BrotliLayer: CodingLayer {
    private struct Functions: Sendable {
        typealias Create =
            @convention(c) @Sendable (OpaquePointer?, OpaquePointer?, OpaquePointer?) -> OpaquePointer?
        typealias Destroy = @convention(c) @Sendable (OpaquePointer?) -> Void
        typealias Decode =
            @convention(c) @Sendable (
                OpaquePointer, UnsafeMutablePointer<Int>, UnsafeMutablePointer<UnsafePointer<UInt8>?>,
                UnsafeMutablePointer<Int>, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
                UnsafeMutablePointer<Int>?
            ) -> Int32

        let create: Create
        let destroy: Destroy
        let decode: Decode

        init?() {
            guard let library = SharedLibrary("libbrotlidec.so.1"),
                let create = library.function("BrotliDecoderCreateInstance", as: Create.self),
                let destroy = library.function("BrotliDecoderDestroyInstance", as: Destroy.self),
                let decode = library.function("BrotliDecoderDecompressStream", as: Decode.self)
            else { return nil }
            (self.create, self.destroy, self.decode) = (create, destroy, decode)
        }
    }

    private static let functions = Functions()
    static var isAvailable: Bool { functions != nil }

    private let functions: Functions
    private let state: OpaquePointer
    private(set) var isAtEnd = false
    let name = "br"

    init() throws(TransferError) {
        guard let functions = Self.functions, let state = functions.create(nil, nil, nil) else {
            throw TransferError(.internalFault, "brotli cannot be initialised", isTransient: true)
        }
        (self.functions, self.state) = (functions, state)
    }

    deinit { functions.destroy(state) }

    func step(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(TransferError) -> CodingStep {
        guard !isAtEnd else {
            guard input.isEmpty else { throw .undecodable("there are bytes after the end of its br stream") }
            return CodingStep(consumed: 0, produced: 0)
        }
        var (inputLeft, outputLeft) = (input.count, output.count)
        var source = UnsafePointer(input.bindMemory(to: UInt8.self).baseAddress)
        var target = output.bindMemory(to: UInt8.self).baseAddress
        // BrotliDecoderResult: 0 means damaged, 1 the end; 2 and 3 ask for more.
        switch functions.decode(state, &inputLeft, &source, &outputLeft, &target, nil) {
        case 0: throw .undecodable("its br stream is damaged")
        case 1: isAtEnd = true
        default: break
        }
        return CodingStep(consumed: input.count - inputLeft, produced: output.count - outputLeft)
    }
}
