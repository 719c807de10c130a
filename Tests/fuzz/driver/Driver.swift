import Glibc

private let target = getenv("FUZZ_TARGET").flatMap { FuzzTarget(rawValue: String(cString: $0)) }

/// What libFuzzer calls with each input; the environment names what is given it (`Tests/fuzz/run`).
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer hears of a fault by the end of the process.
    guard let target else { fatalError("FUZZ_TARGET names no target") }
    do {
        try target.check(Array(UnsafeBufferPointer(start: data, count: count)))
    } catch {
        // The same.
        fatalError("\(target.rawValue): \(error)")
    }
    return 0
}
