import Glibc

private let target = getenv("FUZZ_TARGET").flatMap { FuzzTarget(rawValue: String(cString: $0)) }

/// What libFuzzer calls with each input; the environment names what is given it (`Tests/fuzz/run`).
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer takes its process's end for what was found; without a target there is nothing to do.
    guard let target else { fatalError("FUZZ_TARGET names no target") }
    do {
        try target.check(Array(UnsafeBufferPointer(start: data, count: count)))
    } catch {
        // An end of the process is how a fuzzer is told of a fault.
        fatalError("\(target.rawValue): \(error)")
    }
    return 0
}
