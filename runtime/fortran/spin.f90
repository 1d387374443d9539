! The task of a handler in Fortran, as in handler.h, and its packet as an array of bytes.
!
!     subroutine sizes_ph(args) bind(c)
!         use spin
!         type(handler_args), intent(in) :: args
!         write (*, *) 'packet of', size(packet(args)), 'bytes'
!     end subroutine
module spin
    use, intrinsic :: iso_c_binding
    implicit none

    type, bind(c) :: task
        type(c_ptr) :: handler_mem
        integer(c_size_t) :: handler_mem_size
        type(c_ptr) :: pkt_mem
        integer(c_size_t) :: pkt_mem_size
    end type

    type, bind(c) :: handler_args
        type(c_ptr) :: task
        integer(c_int32_t) :: hpu_gid, cluster_id, hpu_id
    end type

contains

    ! The packet's copy in L1, from the first byte of its Ethernet header on.
    function packet(args) result(bytes)
        type(handler_args), intent(in) :: args
        integer(c_int8_t), pointer :: bytes(:)
        type(task), pointer :: own
        call c_f_pointer(args%task, own)
        call c_f_pointer(own%pkt_mem, bytes, [own%pkt_mem_size])
    end function

    ! Two bytes of the packet in network order, from the byte at `offset` on, which is 0 for the first.
    pure integer function word(bytes, offset)
        integer(c_int8_t), intent(in) :: bytes(:)
        integer, intent(in) :: offset
        word = ior(ishft(iand(int(bytes(offset + 1)), 255), 8), iand(int(bytes(offset + 2)), 255))
    end function
end module
