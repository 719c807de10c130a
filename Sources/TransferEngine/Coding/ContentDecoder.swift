import TransferCore

/// A decoder that removes one coding from a body, piece by piece.
protocol CodingLayer: AnyObject {
    /// Takes bytes from the front of `input` and writes to the front of `output`. Without input it writes what it holds
    /// back.
    ///
    /// - Throws: `TransferError` of `.badResponse` for bytes that are not of this coding.
    func step(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(TransferError) -> CodingStep

    /// Whether the coded stream has ended, with the check values that it has.
    var isAtEnd: Bool { get }
    var name: String { get }
}

struct CodingStep {
    var consumed: Int
    var produced: Int
}

/// The removal of all codings from a body, the last applied one first. Memory is bounded by one buffer for each coding.
final class ContentDecoder {
    private var stages: [Stage]
    private var hasInput = false

    private final class Stage {
        let layer: any CodingLayer
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        /// The bytes of the previous stage that are not yet taken, in that stage's buffer or the caller's.
        var input = UnsafeRawBufferPointer(start: nil, count: 0)

        init(_ layer: any CodingLayer) { self.layer = layer }
        deinit { buffer.deallocate() }
    }

    /// libcurl's bound: more layers are an attempt to keep the client busy.
    private static let maxLayers = 5

    init(_ layers: [ContentCoding.Layer]) throws(TransferError) {
        guard layers.count <= Self.maxLayers else {
            throw .undecodable("it has more than \(CountText.words(Self.maxLayers, "coding"))")
        }
        stages = []
        for layer in layers.reversed() { stages.append(Stage(try layer.makeDecoder())) }
    }

    /// Returns the next decoded piece, valid until the next call, or `nil` when `input` is used up and nothing is left.
    ///
    /// - Parameter input: The coded bytes; the taken ones are removed from its front.
    func next(_ input: inout UnsafeRawBufferPointer) throws(TransferError) -> UnsafeRawBufferPointer? {
        guard let first = stages.first else { return nil }
        if !input.isEmpty { hasInput = true }
        first.input = input
        // The caller's bytes may be gone at the next call.
        defer { first.input = UnsafeRawBufferPointer(start: nil, count: 0) }
        let piece = try produce(stages.count - 1)
        input = first.input
        return piece
    }

    private func produce(_ index: Int) throws(TransferError) -> UnsafeRawBufferPointer? {
        let stage = stages[index]
        while true {
            if stage.input.isEmpty, index > 0, let more = try produce(index - 1) { stage.input = more }
            let hadInput = !stage.input.isEmpty
            let step = try stage.layer.step(stage.input, into: stage.buffer)
            stage.input = UnsafeRawBufferPointer(rebasing: stage.input[step.consumed...])
            if step.produced > 0 { return UnsafeRawBufferPointer(rebasing: stage.buffer[..<step.produced]) }
            guard hadInput else { return nil }
            guard step.consumed > 0 else { throw .undecodable("the \(stage.layer.name) stream makes no progress") }
        }
    }

    /// The reason why the received bytes are not the whole body, or `nil` if they are.
    ///
    /// A body of no bytes has nothing to decode (RFC 9110 §6.4.1: answers to HEAD, 204, 304).
    var failure: TransferError? {
        guard hasInput, let stage = stages.first(where: { !$0.layer.isAtEnd }) else { return nil }
        return .undecodable("its \(stage.layer.name) stream ends early", isTransient: true)
    }
}

extension TransferError {
    /// libcurl's number for the failure: CURLE_BAD_CONTENT_ENCODING (libcurl-errors(3)).
    static let undecodableCause = Cause.curl(61)

    static func undecodable(_ reason: String, isTransient: Bool = true) -> TransferError {
        TransferError(
            .badResponse, "the answer cannot be decoded: \(reason)", cause: undecodableCause, isTransient: isTransient)
    }
}
