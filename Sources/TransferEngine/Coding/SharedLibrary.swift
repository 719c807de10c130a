import Glibc

/// A C library that is there or isn't: nothing has to be installed to build against it.
///
/// libcurl brings the decoders of br and zstd along when it can decode them; a system without goes on without.
struct SharedLibrary: Sendable {
    // Set once, and never closed: functions of it are in use until the program ends.
    private let handle: UInt

    /// - Parameter name: With the number of its binary interface, as dlopen(3) finds it.
    init?(_ name: String) {
        guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { return nil }
        self.handle = UInt(bitPattern: handle)
    }

    /// The function of that name; `Function` must be its C type.
    func function<Function>(_ name: String, as type: Function.Type) -> Function? {
        guard let symbol = dlsym(UnsafeMutableRawPointer(bitPattern: handle), name) else { return nil }
        return unsafeBitCast(symbol, to: type)
    }
}
