package import TransferCore
import TransferEngine
import TransferEventLoop

/// The end of a wait as the database has it, by two clocks. The clock that counts from the boot is not changed by
/// setting the time and does not stop in a suspend. The wall clock is for the time after the next boot.
package struct StoredWait: Sendable, Hashable {
    /// The end in milliseconds since 1970.
    package var wall: Int64
    /// The end in milliseconds of `CLOCK_BOOTTIME`; `nil` in databases of former versions.
    package var boot: Int64?
    /// The milliseconds that were left of the wait when it was stored; `nil` in databases of former versions.
    package var length: Int64?

    /// The present time of both clocks.
    package struct Now: Sendable, Hashable {
        package var wall: Int64
        package var boot: MonotonicTime

        package init(wall: Int64, boot: MonotonicTime) {
            self.wall = wall
            self.boot = boot
        }

        package var bootMilliseconds: Int64 { boot.nanoseconds / 1_000_000 }

        package static var system: Now { Now(wall: WallClock.milliseconds, boot: .now) }
    }

    package init(wall: Int64, boot: Int64?, length: Int64?) {
        (self.wall, self.boot, self.length) = (wall, boot, length)
    }

    package init(until due: MonotonicTime, now: Now = .system) {
        // The end is rounded up, because nothing is due before its time.
        let end = max(0, due.nanoseconds / 1_000_000 + (due.nanoseconds % 1_000_000 > 0 ? 1 : 0))
        let left = max(0, end - now.bootMilliseconds)
        self.init(wall: now.wall + left, boot: end, length: left)
    }

    /// The longest wait whose intended length is unknown, in milliseconds.
    package static let longest: Int64 = 86_400_000

    package func due(_ now: Now = .system) -> MonotonicTime { now.boot + remaining(now) }

    /// Returns the rest of the wait, which is never longer than when it was stored, even if the clocks were set.
    package func remaining(_ now: Now = .system) -> Duration {
        let most = Duration.milliseconds(length ?? Self.longest)
        guard let boot else { return min(.milliseconds(max(0, wall - now.wall)), most) }
        return min(max(.zero, MonotonicTime(nanoseconds: 0) + .milliseconds(boot) - now.boot), most)
    }

    /// Returns the wait's end by the present wall clock, which may have been set meanwhile, in milliseconds since 1970.
    package func shownEnd(_ now: Now = .system) -> Int64 { now.wall + remaining(now).inMilliseconds }
}
