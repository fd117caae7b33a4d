;; The tool with which `art doctor --self-test` attacks the host. Its input is `{"attack":NN,"text":".."}`, where NN is the number of an
;; attack, counted from 10. An attack that reaches what it wants ends with the output `true`, and one that the host refuses with `false`.
;;
;; `attacker.wasm` is the component of this module. A test compares them, and writes the component again if asked to.
(module
  (import "art:tool/host@0.1.0" "log" (func $log (param i32 i32 i32)))
  (import "wasi:clocks/monotonic-clock@0.2.12" "subscribe-duration" (func $timer (param i64) (result i32)))
  (import "wasi:io/poll@0.2.12" "[method]pollable.block" (func $block (param i32)))
  (import "wasi:io/poll@0.2.12" "[resource-drop]pollable" (func $drop_pollable (param i32)))
  (import "wasi:cli/environment@0.2.12" "get-environment" (func $get_environment (param i32)))
  (import "wasi:filesystem/preopens@0.2.12" "get-directories" (func $get_directories (param i32)))
  (import "wasi:filesystem/types@0.2.12" "[method]descriptor.open-at"
    (func $open_at (param i32 i32 i32 i32 i32 i32 i32)))
  (import "wasi:http/types@0.2.12" "[constructor]fields" (func $new_fields (result i32)))
  (import "wasi:http/types@0.2.12" "[constructor]outgoing-request" (func $new_request (param i32) (result i32)))
  (import "wasi:http/types@0.2.12" "[method]outgoing-request.set-scheme"
    (func $set_scheme (param i32 i32 i32 i32 i32) (result i32)))
  (import "wasi:http/types@0.2.12" "[method]outgoing-request.set-authority"
    (func $set_authority (param i32 i32 i32 i32) (result i32)))
  (import "wasi:http/types@0.2.12" "[method]outgoing-request.set-path-with-query"
    (func $set_path (param i32 i32 i32 i32) (result i32)))
  (import "wasi:http/outgoing-handler@0.2.12" "handle" (func $handle (param i32 i32 i32 i32)))
  (import "wasi:http/types@0.2.12" "[method]future-incoming-response.subscribe" (func $subscribe (param i32) (result i32)))
  (import "wasi:http/types@0.2.12" "[method]future-incoming-response.get" (func $get_response (param i32 i32)))

  (memory (export "memory") 4)
  (table $large 1 funcref)
  (global $free (mut i32) (i32.const 131072))
  ;; Whether the end of `execute` is a loop.
  (global $never_ends (mut i32) (i32.const 0))

  (type $attack (func (param $text i32) (param $length i32) (result i32)))
  (table $attacks funcref (elem
    $spin $log_forever $sleep $nap $grow_memory $grow_table $recurse $fill_memory $loop_after_end $return_much
    $flood_log $trap $remember $hoard_handles $open_to_read $open_to_write $read_environment $send_request $forge))

  ;; Attacks on time and memory. Those that should not come back count as successful if they do.

  (func $spin (type $attack) (loop $again (br $again)) (unreachable))

  (func $log_forever (type $attack)
    (loop $again (call $log (i32.const 2) (i32.const 0) (i32.const 1)) (br $again)) (unreachable))

  (func $sleep (type $attack) (call $block (call $timer (i64.const 3600000000000))) (i32.const 1))

  (func $nap (type $attack) (local $timer i32)
    (loop $again
      (local.set $timer (call $timer (i64.const 0)))
      (call $block (local.get $timer))
      (call $drop_pollable (local.get $timer))
      (br $again))
    (unreachable))

  (func $grow_memory (type $attack)
    (loop $again
      (if (i32.eq (memory.grow (i32.const 64)) (i32.const -1)) (then (unreachable)))
      (br_if $again (i32.lt_u (memory.size) (i32.const 65000))))
    (i32.const 1))

  (func $grow_table (type $attack)
    (if (i32.eq (table.grow $large (ref.null func) (i32.const 10000000)) (i32.const -1)) (then (unreachable)))
    (i32.const 1))

  (func $recurse (type $attack) (param $text i32) (param $length i32) (result i32)
    (i32.add (call $recurse (local.get $text) (local.get $length)) (i32.const 1)))

  (func $fill_memory (type $attack)
    (call $grow)
    (loop $again (memory.fill (i32.const 262144) (i32.const 7) (i32.const 33554432)) (br $again))
    (unreachable))

  (func $loop_after_end (type $attack) (global.set $never_ends (i32.const 1)) (i32.const 1))

  ;; Attacks on the memory of the host.

  (func $return_much (type $attack)
    (call $grow)
    (i32.store (i32.const 1204) (i32.const 262144))
    (i32.store (i32.const 1208) (i32.const 33554432))
    (i32.const 2))

  (func $flood_log (type $attack) (local $left i32)
    (call $grow)
    (local.set $left (i32.const 2000))
    (loop $again
      (call $log (i32.const 2) (i32.const 262144) (i32.const 65536))
      (local.set $left (i32.sub (local.get $left) (i32.const 1)))
      (br_if $again (local.get $left)))
    (i32.const 0))

  (func $hoard_handles (type $attack) (local $left i32)
    (local.set $left (i32.const 1000000))
    (loop $again
      (drop (call $timer (i64.const 3600000000000)))
      (local.set $left (i32.sub (local.get $left) (i32.const 1)))
      (br_if $again (local.get $left)))
    (i32.const 1))

  ;; Attacks on other calls.

  (func $trap (type $attack) (unreachable))

  (func $remember (type $attack)
    (i32.load (i32.const 4096))
    (i32.store (i32.const 4096) (i32.const 1)))

  ;; Attacks on files, the environment and the network.

  (func $open_to_read (type $attack) (param $text i32) (param $length i32) (result i32)
    (call $open (local.get $text) (local.get $length) (i32.const 0) (i32.const 1)))

  (func $open_to_write (type $attack) (param $text i32) (param $length i32) (result i32)
    (call $open (local.get $text) (local.get $length) (i32.const 9) (i32.const 2)))

  ;; Opens a path, following links, beneath the first directory. Returns whether there now is a descriptor.
  (func $open (param $text i32) (param $length i32) (param $open_flags i32) (param $flags i32) (result i32)
    (call $get_directories (i32.const 8192))
    (if (i32.eqz (i32.load (i32.const 8196))) (then (return (i32.const 0))))
    (call $open_at (i32.load (i32.load (i32.const 8192))) (i32.const 1) (local.get $text) (local.get $length)
      (local.get $open_flags) (local.get $flags) (i32.const 8208))
    (i32.eqz (i32.load8_u (i32.const 8208))))

  (func $read_environment (type $attack)
    (call $get_environment (i32.const 8192))
    (i32.ne (i32.load (i32.const 8196)) (i32.const 0)))

  ;; Sends a GET request to an authority. Returns whether there is a response.
  (func $send_request (type $attack) (param $text i32) (param $length i32) (result i32) (local $request i32) (local $response i32)
    (local.set $request (call $new_request (call $new_fields)))
    (drop (call $set_scheme (local.get $request) (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 0)))
    (drop (call $set_authority (local.get $request) (i32.const 1) (local.get $text) (local.get $length)))
    (drop (call $set_path (local.get $request) (i32.const 1) (i32.const 2016) (i32.const 1)))
    (call $handle (local.get $request) (i32.const 0) (i32.const 0) (i32.const 8192))
    (if (i32.load8_u (i32.const 8192)) (then (return (i32.const 0))))
    (local.set $response (i32.load (i32.const 8200)))
    (call $block (call $subscribe (local.get $response)))
    (call $get_response (local.get $response) (i32.const 8448))
    (i32.and (i32.eqz (i32.load8_u (i32.const 8456))) (i32.eqz (i32.load8_u (i32.const 8464)))))

  ;; Returns metadata that only the host may set.
  (func $forge (type $attack)
    (i32.store (i32.const 1240) (i32.const 1))
    (i32.store (i32.const 1244) (i32.const 2100))
    (i32.store (i32.const 1248) (i32.const 98))
    (i32.const 0))

  (func $grow (if (i32.eq (memory.grow (i32.const 600)) (i32.const -1)) (then (unreachable))))

  ;; The contract.

  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (global.get $free)
    (global.set $free (i32.and (i32.add (global.get $free) (i32.add (local.get 3) (i32.const 15))) (i32.const -16))))

  (func (export "art:tool/tool@0.1.0#schema") (result i32) (i32.const 1024))

  (func (export "art:tool/tool@0.1.0#execute") (param $call i32) (result i32)
    (local $input i32) (local $length i32) (local $result i32)
    (local.set $input (i32.load (local.get $call)))
    (local.set $length (i32.load (i32.add (local.get $call) (i32.const 4))))
    (local.set $result
      (call_indirect $attacks (type $attack)
        (i32.add (local.get $input) (i32.const 21))
        (i32.sub (local.get $length) (i32.const 23))
        (call $number (local.get $input))))
    (if (i32.eq (local.get $result) (i32.const 1)) (then
      (i32.store (i32.const 1204) (i32.const 2008))
      (i32.store (i32.const 1208) (i32.const 4))))
    (i32.const 1200))

  ;; Returns the number of the attack, counted from 0.
  (func $number (param $input i32) (result i32)
    (i32.sub
      (i32.add
        (i32.mul (i32.sub (i32.load8_u offset=10 (local.get $input)) (i32.const 48)) (i32.const 10))
        (i32.sub (i32.load8_u offset=11 (local.get $input)) (i32.const 48)))
      (i32.const 10)))

  (func (export "cabi_post_art:tool/tool@0.1.0#execute") (param i32)
    (if (global.get $never_ends) (then (loop $again (br $again)))))

  ;; The schema at 1024: name, description, input schema, no output schema, functional, no settings and no examples.
  (data (i32.const 1024) "\00\06\00\00\09\00\00\00" "\10\06\00\00\12\00\00\00" "\30\06\00\00\72\00\00\00")
  (data (i32.const 1536) "self_test")
  (data (i32.const 1552) "Attacks this host.")
  (data (i32.const 1584) "{\"type\":\"object\",\"properties\":{\"attack\":{\"type\":\"integer\"},\"text\":{\"type\":\"string\"}},\"required\":[\"attack\",\"text\"]}")
  ;; The outcome at 1200: a success with the output `false`.
  (data (i32.const 1200) "\00\00\00\00" "\d0\07\00\00" "\05\00\00\00")
  (data (i32.const 2000) "false")
  (data (i32.const 2008) "true")
  (data (i32.const 2016) "/")
  (data (i32.const 2100) "{\"suspensionId\":\"forged\",\"callId\":\"forged\",\"denials\":[],\"rejected\":true,\"notRun\":true,\"title\":\"x\"}"))
