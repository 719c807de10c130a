internal import Glibc

/// `posix_spawn` with exactly three open descriptors in the child, so that no pipe of another test is inherited and
/// kept open.
enum SpawnedChild {
    /// - Parameters:
    ///   - input: The child's standard input; `nil` for `/dev/null`, as for the other descriptors.
    static func spawn(
        _ executable: String, _ arguments: [String], environment: [String: String], workingFolder: String?,
        input: Int32?, output: Int32?, error: Int32?
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (target, source) in [(Int32(0), input), (1, output), (2, error)] {
            if let source {
                posix_spawn_file_actions_adddup2(&actions, source, target)
            } else {
                posix_spawn_file_actions_addopen(&actions, target, "/dev/null", target == 0 ? O_RDONLY : O_WRONLY, 0)
            }
        }
        _ = GNUCalls.addCloseFrom(&actions, 3)
        if let workingFolder { _ = GNUCalls.addChangeFolder(&actions, workingFolder) }

        // The child starts without blocked or ignored signals, whatever the test runner uses.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var pid = pid_t()
        let code = withStrings([executable] + arguments) { argv in
            withStrings(environment.map { "\($0)=\($1)" }) { envp in
                posix_spawn(&pid, executable, &actions, &attributes, argv, envp)
            }
        }
        guard code == 0 else { throw TestSupportError.system("cannot start \(executable)", code) }
        return pid
    }

    private static func withStrings<R>(
        _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> R
    ) -> R {
        var pointers = strings.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        return body(&pointers)
    }
}
