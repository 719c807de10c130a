import Glibc

private let target = getenv("FUZZ_TARGET").flatMap { FuzzTarget(rawValue: String(cString: $0)) }

/// The entry point that libFuzzer calls with each input. The environment names the target (`Tests/fuzz/run`).
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // No caller can receive the error of a missing target: `LLVMFuzzerTestOneInput` must return 0. A continued run
    // would report success without any check.
    guard let target else { fatalError("FUZZ_TARGET names no target") }
    do {
        try target.check(Array(UnsafeBufferPointer(start: data, count: count)))
    } catch {
        // The end of the process is the only report of a fault to libFuzzer, which then keeps the input.
        fatalError("\(target.rawValue): \(error)")
    }
    return 0
}
