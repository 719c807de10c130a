import Glibc
import TransferCore
import TransferEventLoop

/// The watch that asks NetworkManager over D-Bus about metered links and a captive portal. It asks again when
/// NetworkManager reports a change. Without a system bus, or without NetworkManager on it, the watch does nothing.
///
/// `@unchecked Sendable`: the object is used on its loop only; the library calls back from `process`, which runs there.
final class NetworkManagerWatch: @unchecked Sendable {
    private enum Call {
        case manager
        case device
    }

    private let loop: EventLoop
    private let library: BusLibrary
    private let tell: (ManagedNetwork) -> Void
    private var bus: OpaquePointer?
    private var descriptor: Int32 = -1
    private var timer: LoopTimer?
    private var calls: [UInt64: Call] = [:]
    private var found = ManagedNetwork()
    private var mustAskAgain = false

    /// Creates a watch.
    ///
    /// - Returns: `nil` where there is no system bus.
    init?(loop: EventLoop, tell: @escaping (ManagedNetwork) -> Void) {
        // The bus is checked before the library is loaded, which not every machine needs.
        guard getenv("DBUS_SYSTEM_BUS_ADDRESS") != nil || access("/run/dbus/system_bus_socket", F_OK) == 0,
            let library = BusLibrary.installed
        else { return nil }
        self.loop = loop
        self.library = library
        self.tell = tell
        var bus: OpaquePointer?
        guard library.openSystem(&bus) >= 0, let bus else { return nil }
        self.bus = bus
        descriptor = library.descriptor(bus)
        timer = loop.makeTimer { [weak self] in self?.process() }
        for rule in Self.rules where !match(rule) {
            end()
            return nil
        }
        ask()
        process()
    }

    deinit { if let bus { release(bus) } }

    var hasEnded: Bool { bus == nil }

    func end() {
        guard let bus else { return }
        self.bus = nil
        loop.unregister(descriptor)
        if let timer { loop.remove(timer) }
        timer = nil
        release(bus)
    }

    private func release(_ bus: OpaquePointer) {
        library.close(bus)
        _ = library.unref(bus)
    }

    // MARK: Questions

    private static let name = "org.freedesktop.NetworkManager"
    private static let device = name + ".Device"

    /// The rules match only relevant changes, since access points report their signal strength continuously.
    private static let rules: [String] = {
        let properties =
            "type='signal',sender='\(name)',interface='org.freedesktop.DBus.Properties',member='PropertiesChanged'"
        return [
            "\(properties),arg0='\(name)'", "\(properties),arg0='\(device)'",
            "type='signal',sender='\(name)',interface='\(name)',member='DeviceAdded'",
            "type='signal',sender='\(name)',interface='\(name)',member='DeviceRemoved'",
            "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
                + "member='NameOwnerChanged',arg0='\(name)'",
        ]
    }()

    private var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    private func match(_ rule: String) -> Bool {
        guard let bus else { return false }
        return library.addMatch(
            bus, nil, rule,
            { _, context, _ in
                if let context { Unmanaged<NetworkManagerWatch>.fromOpaque(context).takeUnretainedValue().ask() }
                return 0
            }, { _, _, _ in 0 }, context) >= 0
    }

    private func ask() {
        guard calls.isEmpty else {
            mustAskAgain = true
            return
        }
        mustAskAgain = false
        found = ManagedNetwork()
        call(.manager, path: "/org/freedesktop/NetworkManager", interface: Self.name)
    }

    private func call(_ call: Call, path: String, interface: String) {
        var message: OpaquePointer?
        guard let bus,
            library.newCall(bus, &message, Self.name, path, "org.freedesktop.DBus.Properties", "GetAll") >= 0,
            let message
        else { return }
        defer { _ = library.unrefMessage(message) }
        // The call must not start NetworkManager where it is not running.
        _ = library.setAutoStart(message, 0)
        _ = interface.withCString { library.append(message, BusLibrary.code("s"), $0) }
        let code = library.call(
            bus, nil, message,
            { reply, context, _ in
                guard let reply, let context else { return 0 }
                Unmanaged<NetworkManagerWatch>.fromOpaque(context).takeUnretainedValue().answer(reply)
                return 0
            }, context, 0)
        var cookie: UInt64 = 0
        guard code >= 0, library.cookie(message, &cookie) >= 0 else { return }
        calls[cookie] = call
    }

    // MARK: Answers

    private func answer(_ reply: OpaquePointer) {
        var cookie: UInt64 = 0
        guard library.replyCookie(reply, &cookie) >= 0, let call = calls.removeValue(forKey: cookie) else { return }
        // An error means that NetworkManager is absent, or that a device is gone.
        if library.isError(reply, nil) == 0 {
            let properties = library.properties(reply)
            switch call {
            case .manager: takeManager(properties)
            case .device: takeDevice(properties)
            }
        }
        guard calls.isEmpty else { return }
        if mustAskAgain { ask() } else { tell(found) }
    }

    private func takeManager(_ properties: [String: BusLibrary.Value]) {
        // The numbers are those of NMConnectivityState.
        let states: [UInt32: Connectivity] = [1: .none, 2: .portal, 3: .limited, 4: .full]
        if case .number(let number) = properties["Connectivity"] { found.connectivity = states[number] ?? .unknown }
        guard case .paths(let paths) = properties["Devices"] else { return }
        for path in paths { call(.device, path: path, interface: Self.device) }
    }

    private func takeDevice(_ properties: [String: BusLibrary.Value]) {
        // The numbers are those of NMMetered.
        let kinds: [UInt32: Metering] = [1: .yes, 2: .no, 3: .guessedYes, 4: .guessedNo]
        guard case .number(let number) = properties["Metered"], let metering = kinds[number] else { return }
        // A modem's device is a serial port, and its network interface has another name.
        for key in ["Interface", "IpInterface"] {
            if case .text(let name) = properties[key], !name.isEmpty { found.metering[name] = metering }
        }
    }

    // MARK: The loop

    private func process() {
        while let bus {
            let count = library.process(bus, nil)
            if count < 0 {
                // The bus is gone, so its data is no longer valid.
                end()
                return tell(ManagedNetwork())
            }
            if count == 0 { break }
        }
        watch()
    }

    private func watch() {
        guard let bus else { return }
        let events = library.events(bus)
        var ready: ReadyEvents = []
        if events & Int32(POLLIN) != 0 { ready.insert(.readable) }
        if events & Int32(POLLOUT) != 0 { ready.insert(.writable) }
        loop.register(descriptor, for: ready) { [weak self] _ in self?.process() }
        var deadline = UInt64.max
        if library.timeout(bus, &deadline) >= 0, deadline < UInt64(Int64.max / 1000) {
            timer?.schedule(at: MonotonicTime(nanoseconds: Int64(deadline) * 1000))
        } else {
            timer?.cancel()
        }
    }
}
