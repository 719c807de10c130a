import Glibc

/// A C library that is loaded if the system has it, so that nothing has to be installed to build against it.
///
/// libcurl brings the decoders of br and zstd along if it can decode them. A system without them works without these
/// codings.
struct SharedLibrary: Sendable {
    // The handle is set once and never closed: functions of the library are in use until the program ends.
    private let handle: UInt

    /// Loads a library.
    ///
    /// - Parameter name: The file name with the version of the binary interface, as dlopen(3) finds it.
    init?(_ name: String) {
        guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { return nil }
        self.handle = UInt(bitPattern: handle)
    }

    /// Returns the function of that name; `Function` must be its C type.
    func function<Function>(_ name: String, as type: Function.Type) -> Function? {
        guard let symbol = dlsym(UnsafeMutableRawPointer(bitPattern: handle), name) else { return nil }
        return unsafeBitCast(symbol, to: type)
    }
}
