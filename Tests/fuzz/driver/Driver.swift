import Glibc

private let target = getenv("FUZZ_TARGET").flatMap { FuzzTarget(rawValue: String(cString: $0)) }

/// What libFuzzer calls with each input; the environment names what is given it (`Tests/fuzz/run`).
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // A fuzzer has no caller to whom a missing target could be told: libFuzzer's interface returns no error
    // (`LLVMFuzzerTestOneInput` must return 0), and to go on would report a run that checked nothing.
    guard let target else { fatalError("FUZZ_TARGET names no target") }
    do {
        try target.check(Array(UnsafeBufferPointer(start: data, count: count)))
    } catch {
        // The process's end is libFuzzer's only way to hear of a fault: it then keeps the input that led here.
        fatalError("\(target.rawValue): \(error)")
    }
    return 0
}
