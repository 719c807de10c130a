internal import Glibc

/// Calls of the C library that Swift's Glibc module leaves out, because it is built without `_GNU_SOURCE`.
enum GNUCalls {
    typealias AddCloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
    typealias AddChangeFolder =
        @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, UnsafePointer<CChar>) -> Int32
    typealias SetNamespace = @convention(c) (Int32, Int32) -> Int32
    typealias Pipe2 = @convention(c) (UnsafeMutablePointer<Int32>, Int32) -> Int32

    /// The function exists since glibc 2.34.
    static let addCloseFrom: AddCloseFrom = find("posix_spawn_file_actions_addclosefrom_np")
    static let addChangeFolder: AddChangeFolder = find("posix_spawn_file_actions_addchdir_np")
    static let pipe2: Pipe2 = find("pipe2")
    static let setns: SetNamespace = find("setns")

    private static func find<Call>(_ name: String) -> Call {
        guard let symbol = dlsym(nil, name) else {
            // The tests need every function. Debian 12 and Ubuntu 22.04 have all of them.
            fatalError("this C library has no \(name)")
        }
        return unsafeBitCast(symbol, to: Call.self)
    }
}
